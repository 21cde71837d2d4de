package native

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/plugins"
	"github.com/ptywright/ptywright/protocol"
)

// A row is one method: its entry in server.capabilities, and its handler.
type row struct {
	name    string
	about   string
	key     func(*client, json.RawMessage) string // nil: never queues
	params  reflect.Type
	result  reflect.Type
	bind    func(*client) protocol.Method
	needs   []plugins.Permission // of the adapter or plugin that a request names
	queues  string               // the member of params that names what requests queue behind; "": they do not
	rights  protocol.Rights      // what a connection needs to call it
	stated  bool                 // the table says so; a row of which it does not needs everything
	more    bool                 // some params need more: see demanding
	audited bool                 // see [protocol.Method.Audited]
	loads   bool                 // refused unless the server was started to let clients load plugins
}

// method makes a row of a handler.
func method[P, R any](name, about string, f func(*client, context.Context, P) (R, error)) row {
	_, more := any((*P)(nil)).(demanding)
	return row{
		name: name, about: about, more: more,
		params: reflect.TypeFor[P](), result: reflect.TypeFor[R](),
		bind: func(c *client) (m protocol.Method) {
			m.Call = protocol.Bind(func(ctx context.Context, p P) (none R, err error) {
				if read, ok := any(&p).(interface{ bind(*client) error }); ok {
					if err := read.bind(c); err != nil {
						return none, err
					}
				}
				if other, ok := any(p).(interface{ here() error }); ok {
					if err := other.here(); err != nil {
						return none, err
					}
				}
				c.fill(ctx, &p)
				result, err := f(c, ctx, p)
				if err == nil && protocol.ActOf(ctx) != nil {
					fillResult(c, ctx, result)
				}
				return result, err
			})
			if more {
				m.NeedsFor = protocol.NeedsOf(func(p *P) (protocol.Rights, string) {
					return any(p).(demanding).needs()
				})
			}
			return m
		},
	}
}

// fillResult is client.fill for a result, which only then is moved to the heap.
func fillResult[R any](c *client, ctx context.Context, result R) {
	if _, ok := any(result).(acting); ok {
		c.fill(ctx, result)
		return
	}
	c.fill(ctx, &result)
}

// onSession is a row whose requests queue behind unfinished ones of the same session.
func onSession[P, R any](name, about string, f func(*client, context.Context, P) (R, error)) row {
	r := method(name, about, f)
	r.queues = "session"
	member := protocol.KeyMember(r.queues)
	r.key = func(c *client, params json.RawMessage) string {
		return string(c.Engine.Resolve(engine.ID(member(params))))
	}
	return r
}

// table has all methods, in the order in which they are printed.
var table []row

func init() { // a literal would be an initialization cycle: server.capabilities prints it
	table = []row{
		forRead(method("server.capabilities",
			"Tells what this server can do; with schema, the shape of every method.",
			(*client).capabilities)),
		forRead(method("server.set_notifications",
			"Turns notifications of this connection on or off.", (*client).setNotifications)),
		forRead(method("server.set_ordering",
			"Says whether requests queue behind others of their session.", (*client).setOrdering)),
		forRead(method("server.set_strict",
			"Says whether members of params that a method does not have are refused.",
			(*client).setStrict)),
		audited(forRead(method("server.set_rights", "Lowers what this connection may do from now on.",
			(*client).setRights))),
		forRead(method("server.set_client",
			"Says who this client is, for others to read; nothing verifies it.",
			(*client).setClient)),
		forRead(method("server.metrics", "Tells counts of the server, for a monitor.",
			(*client).serverMetrics)),
		forRead(method("server.set_hosts",
			"Says whether this connection sees the sessions of other machines.",
			(*client).setHosts)),
		forRead(method("server.hosts", "Lists the other machines whose sessions are here, too.",
			(*client).serverHosts)),
		forAdmin(method("session.create", "Starts a program on a terminal of its own.",
			(*client).sessionCreate)),
		forRead(method("session.list", "Lists all sessions, those that have ended too.",
			(*client).sessionList)),
		forAdmin(onSession("session.close",
			"Ends a session's program and all it started, and forgets the session.",
			(*client).sessionClose)),
		forAdmin(method("session.forget", "Forgets all sessions that have ended and that nobody needs.",
			(*client).sessionForget)),
		forAdmin(onSession("session.kill",
			"Ends a session's program and all it started; the session stays readable.",
			(*client).sessionKill)),
		forType(onSession("session.resize", "Changes a terminal's size.", (*client).sessionResize)),
		forType(onSession("session.input", "Types, pastes, presses a key, signals.",
			(*client).sessionInput)),
		forRead(onSession("session.snapshot", "Reads the screen.", (*client).sessionSnapshot)),
		forRead(onSession("session.transcript", "Reads the retained output.",
			(*client).sessionTranscript)),
		forType(onSession("session.run",
			"Runs a command line in a session's shell, and tells its output and exit code.",
			(*client).sessionRun)),
		forRead(onSession("session.wait", "Waits until a matcher holds.", (*client).sessionWait)),
		forRead(method("session.wait_many",
			"Waits until a matcher holds in one of several sessions, or in each of them.",
			(*client).sessionWaitMany)),
		forRead(onSession("session.scrollback",
			"Reads lines that have left the screen, and the screen's after them.",
			(*client).sessionScrollback)),
		forRead(onSession("session.search", "Finds text in scrollback and screen.",
			(*client).sessionSearch)),
		forRead(onSession("session.locate",
			"Waits until a locator means places of the screen, and tells where they are.",
			(*client).sessionLocate)),
		forRead(onSession("session.history",
			"Tells when a matcher held in a session's past, and for how long.",
			(*client).sessionHistory)),
		forRead(onSession("session.blocks", "Reads the commands of a shell that marks them.",
			(*client).sessionBlocks)),
		forRead(method("session.events",
			"Reads what has happened to a session: input, waits, commands, leases, its end.",
			(*client).sessionEvents)),
		forRead(onSession("session.screenshot", "Draws the screen as PNG, SVG, HTML or ANSI text.",
			(*client).sessionScreenshot)),
		forRead(onSession("session.golden",
			"Writes the screen down as a golden screen, the text of a file that tests compare screens with.",
			(*client).sessionGolden)),
		forRead(onSession("session.frame",
			"Waits for the screen to change, and reads the rows that did.",
			(*client).sessionFrame)),
		forType(method("session.lease",
			"Takes the right to type into a session, which nobody else has then.",
			(*client).sessionLease)),
		forType(method("session.release", "Gives that right back.", (*client).sessionRelease)),
		forAdmin(onSession("session.record_start",
			"Records a session from here on, as asciicast or Markdown.",
			(*client).sessionRecordStart)),
		forAdmin(method("session.record_stop", "Ends a recording and gives its file its name.",
			(*client).sessionRecordStop)),
		forRead(onSession("session.record_list", "Lists recordings, those that have ended too.",
			(*client).sessionRecordList)),
		forRead(method("adapter.list", "Lists the plugins that adapters can be started with.",
			(*client).adapterList)),
		forRead(method("adapter.live", "Lists the adapters that are live.", (*client).adapterLive)),
		forAdmin(onPlugin("adapter.start", "Starts a program with a plugin that drives it.",
			(*client).adapterStart, plugins.SessionSpawn)),
		forAdmin(onPlugin("adapter.resume", "Closes an adapter and starts another in its place.",
			(*client).adapterResume, plugins.SessionSpawn)),
		forRead(onAdapter("adapter.state", "Tells what state the program is in.",
			(*client).adapterState, plugins.ScreenRead)),
		forType(onTurn("adapter.send", "Performs an intent, and tells whether it was submitted.",
			(*client).adapterSend, plugins.InputWrite)),
		forRead(onAdapter("adapter.wait", "Waits until a matcher of the plugin holds.",
			(*client).adapterWait, plugins.MatcherWait)),
		forType(onAdapter("adapter.turn",
			"Performs an intent and waits, with no other client's intent between.",
			(*client).adapterTurn, plugins.InputWrite, plugins.MatcherWait)),
		forType(method("adapter.cancel_wait", "Cancels a wait by its wait_id.",
			(*client).adapterCancelWait)),
		forRead(onAdapter("adapter.snapshot", "Reads the screen.", (*client).adapterSnapshot,
			plugins.ScreenRead)),
		forRead(onAdapter("adapter.transcript", "Reads the retained output.",
			(*client).adapterTranscript, plugins.TranscriptRead)),
		forRead(onAdapter("adapter.inspect", "Reads the screen as a plugin sees it, with its state.",
			(*client).adapterInspect, plugins.ScreenRead)),
		forRead(onAdapter("adapter.events",
			"Reads what has happened, from a place of the client's own.", (*client).adapterEvents,
			plugins.ScreenRead)),
		forRead(onAdapter("adapter.explain",
			"Tells which rule decided the state, which nearly did, and on what rows.",
			(*client).adapterExplain, plugins.ScreenRead)),
		forAdmin(onAdapter("adapter.close",
			"Ends an adapter's program and all it started, and forgets both.",
			(*client).adapterClose, plugins.SessionKill)),
		forRead(method("plugin.capabilities", "Tells what plugins can be and which are built in.",
			(*client).pluginCapabilities)),
		forRead(method("plugin.validate_manifest", "Checks a manifest without loading anything.",
			(*client).pluginValidate)),
		forRead(onPlugin("plugin.describe", "Tells a plugin's intents, wait matchers and states.",
			(*client).pluginDescribe)),
		forAdmin(loads(method("plugin.load", "Loads a plugin from its manifest.toml.",
			(*client).pluginLoad))),
		forAdmin(loads(onPlugin("plugin.reload", "Reads a loaded plugin's files again.",
			(*client).pluginReload))),
		forAdmin(loads(onPlugin("plugin.unload", "Forgets a plugin that was loaded.",
			(*client).pluginUnload))),
	}
}

// loads marks a row that runs code from this machine's files.
func loads(r row) row {
	r.loads = true
	return r
}

// needsOf returns what a method needs of the adapter or plugin that a request names.
func needsOf(method string) []plugins.Permission {
	return table[slices.IndexFunc(table, func(r row) bool { return r.name == method })].needs
}
