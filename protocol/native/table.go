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
	name   string
	about  string
	key    func(*client, json.RawMessage) string // nil: never queues
	params reflect.Type
	result reflect.Type
	bind   func(*client) func(context.Context, json.RawMessage) (any, error)
	reads  bool                 // read-only connections may call it
	loads  bool                 // refused unless the server was started to let clients load plugins
	needs  []plugins.Permission // of the adapter or plugin that a request names
	queues string               // the member of params that names what requests queue behind; "": they do not
}

// method makes a row of a handler.
func method[P, R any](name, about string, f func(*client, context.Context, P) (R, error)) row {
	return row{
		name: name, about: about,
		params: reflect.TypeFor[P](), result: reflect.TypeFor[R](),
		bind: func(c *client) func(context.Context, json.RawMessage) (any, error) {
			return protocol.Bind(func(ctx context.Context, p P) (none R, err error) {
				if read, ok := any(&p).(interface{ bind(*client) error }); ok {
					if err := read.bind(c); err != nil {
						return none, err
					}
				}
				return f(c, ctx, p)
			})
		},
	}
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
		reads(method("server.capabilities",
			"Tells what this server can do; with schema, the shape of every method.",
			(*client).capabilities)),
		reads(method("server.set_notifications",
			"Turns notifications of this connection on or off.", (*client).setNotifications)),
		reads(method("server.set_ordering",
			"Says whether requests queue behind others of their session.", (*client).setOrdering)),
		reads(method("server.set_strict",
			"Says whether members of params that a method does not have are refused.",
			(*client).setStrict)),
		reads(method("server.set_client",
			"Says who this client is, for others to read; nothing verifies it.",
			(*client).setClient)),
		reads(method("server.set_access", "Has this connection only read from now on.",
			(*client).setAccess)),
		reads(method("server.metrics", "Tells counts of the server, for a monitor.",
			(*client).serverMetrics)),
		method("session.create", "Starts a program on a terminal of its own.",
			(*client).sessionCreate),
		reads(method("session.list", "Lists all sessions, those that have ended too.",
			(*client).sessionList)),
		onSession("session.close",
			"Ends a session's program and all it started, and forgets the session.",
			(*client).sessionClose),
		method("session.forget", "Forgets all sessions that have ended and that nobody needs.",
			(*client).sessionForget),
		onSession("session.kill",
			"Ends a session's program and all it started; the session stays readable.",
			(*client).sessionKill),
		onSession("session.resize", "Changes a terminal's size.", (*client).sessionResize),
		onSession("session.input", "Types, pastes, presses a key, signals.",
			(*client).sessionInput),
		reads(onSession("session.snapshot", "Reads the screen.", (*client).sessionSnapshot)),
		reads(onSession("session.transcript", "Reads the retained output.",
			(*client).sessionTranscript)),
		onSession("session.run",
			"Runs a command line in a session's shell, and tells its output and exit code.",
			(*client).sessionRun),
		reads(onSession("session.wait", "Waits until a matcher holds.", (*client).sessionWait)),
		reads(onSession("session.scrollback",
			"Reads lines that have left the screen, and the screen's after them.",
			(*client).sessionScrollback)),
		reads(onSession("session.search", "Finds text in scrollback and screen.",
			(*client).sessionSearch)),
		reads(onSession("session.locate",
			"Waits until a locator means places of the screen, and tells where they are.",
			(*client).sessionLocate)),
		reads(onSession("session.history",
			"Tells when a matcher held in a session's past, and for how long.",
			(*client).sessionHistory)),
		reads(onSession("session.blocks", "Reads the commands of a shell that marks them.",
			(*client).sessionBlocks)),
		reads(method("session.events",
			"Reads what has happened to a session: input, waits, commands, leases, its end.",
			(*client).sessionEvents)),
		reads(onSession("session.screenshot", "Draws the screen as PNG, SVG, HTML or ANSI text.",
			(*client).sessionScreenshot)),
		reads(onSession("session.golden",
			"Writes the screen down as a golden screen, the text of a file that tests compare screens with.",
			(*client).sessionGolden)),
		reads(onSession("session.frame",
			"Waits for the screen to change, and reads the rows that did.",
			(*client).sessionFrame)),
		method("session.lease",
			"Takes the right to type into a session, which nobody else has then.",
			(*client).sessionLease),
		method("session.release", "Gives that right back.", (*client).sessionRelease),
		onSession("session.record_start",
			"Records a session from here on, as asciicast or Markdown.",
			(*client).sessionRecordStart),
		method("session.record_stop", "Ends a recording and gives its file its name.",
			(*client).sessionRecordStop),
		reads(onSession("session.record_list", "Lists recordings, those that have ended too.",
			(*client).sessionRecordList)),
		reads(method("adapter.list", "Lists the plugins that adapters can be started with.",
			(*client).adapterList)),
		reads(method("adapter.live", "Lists the adapters that are live.", (*client).adapterLive)),
		onPlugin("adapter.start", "Starts a program with a plugin that drives it.",
			(*client).adapterStart, plugins.SessionSpawn),
		onPlugin("adapter.resume", "Closes an adapter and starts another in its place.",
			(*client).adapterResume, plugins.SessionSpawn),
		reads(onAdapter("adapter.state", "Tells what state the program is in.",
			(*client).adapterState, plugins.ScreenRead)),
		onTurn("adapter.send", "Performs an intent, and tells whether it was submitted.",
			(*client).adapterSend, plugins.InputWrite),
		reads(onAdapter("adapter.wait", "Waits until a matcher of the plugin holds.",
			(*client).adapterWait, plugins.MatcherWait)),
		onAdapter("adapter.turn",
			"Performs an intent and waits, with no other client's intent between.",
			(*client).adapterTurn, plugins.InputWrite, plugins.MatcherWait),
		method("adapter.cancel_wait", "Cancels a wait by its wait_id.",
			(*client).adapterCancelWait),
		reads(onAdapter("adapter.snapshot", "Reads the screen.", (*client).adapterSnapshot,
			plugins.ScreenRead)),
		reads(onAdapter("adapter.transcript", "Reads the retained output.",
			(*client).adapterTranscript, plugins.TranscriptRead)),
		reads(onAdapter("adapter.inspect", "Reads the screen as a plugin sees it, with its state.",
			(*client).adapterInspect, plugins.ScreenRead)),
		reads(onAdapter("adapter.events",
			"Reads what has happened, from a place of the client's own.", (*client).adapterEvents,
			plugins.ScreenRead)),
		reads(onAdapter("adapter.explain",
			"Tells which rule decided the state, which nearly did, and on what rows.",
			(*client).adapterExplain, plugins.ScreenRead)),
		onAdapter("adapter.close",
			"Ends an adapter's program and all it started, and forgets both.",
			(*client).adapterClose, plugins.SessionKill),
		reads(method("plugin.capabilities", "Tells what plugins can be and which are built in.",
			(*client).pluginCapabilities)),
		reads(method("plugin.validate_manifest", "Checks a manifest without loading anything.",
			(*client).pluginValidate)),
		reads(onPlugin("plugin.describe", "Tells a plugin's intents, wait matchers and states.",
			(*client).pluginDescribe)),
		loads(method("plugin.load", "Loads a plugin from its manifest.toml.",
			(*client).pluginLoad)),
		loads(onPlugin("plugin.reload", "Reads a loaded plugin's files again.",
			(*client).pluginReload)),
		loads(onPlugin("plugin.unload", "Forgets a plugin that was loaded.",
			(*client).pluginUnload)),
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
