package native

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/ptywright/ptywright/protocol"
)

// A row is one method: what a client reads about it in server.capabilities, and what runs.
type row struct {
	name   string
	about  string
	key    func(json.RawMessage) string // nil: never queues
	params reflect.Type
	result reflect.Type
	bind   func(*client) func(context.Context, json.RawMessage) (any, error)
}

// method makes a row of a handler.
func method[P, R any](name, about string, f func(*client, context.Context, P) (R, error)) row {
	return row{
		name: name, about: about,
		params: reflect.TypeFor[P](), result: reflect.TypeFor[R](),
		bind: func(c *client) func(context.Context, json.RawMessage) (any, error) {
			return protocol.Bind(func(ctx context.Context, p P) (R, error) { return f(c, ctx, p) })
		},
	}
}

// onSession is a row whose requests queue behind unfinished ones of the same session.
func onSession[P, R any](name, about string, f func(*client, context.Context, P) (R, error)) row {
	r := method(name, about, f)
	r.key = protocol.KeyMember("session")
	return r
}

// table is the whole vocabulary, in the order in which it is printed.
var table []row

func init() { // a literal would be an initialization cycle: server.capabilities prints it
	table = []row{
		method("server.capabilities", "Tells what this server can do; with schema, the shape of every method.", (*client).capabilities),
		method("server.set_notifications", "Turns notifications of this connection on or off.", (*client).setNotifications),
		method("server.set_ordering", "Says whether requests queue behind others of their session.", (*client).setOrdering),
		method("session.create", "Starts a program on a terminal of its own.", (*client).sessionCreate),
		method("session.list", "Lists all sessions, those that have ended too.", (*client).sessionList),
		onSession("session.close", "Ends a session's program and all it started, and forgets the session.", (*client).sessionClose),
		onSession("session.kill", "Ends a session's program and all it started; the session stays readable.", (*client).sessionKill),
		onSession("session.resize", "Changes a terminal's size.", (*client).sessionResize),
		onSession("session.input", "Types, pastes, presses a key, signals.", (*client).sessionInput),
		onSession("session.snapshot", "Reads the screen.", (*client).sessionSnapshot),
		onSession("session.transcript", "Reads the retained output.", (*client).sessionTranscript),
		onSession("session.wait", "Waits until a matcher holds.", (*client).sessionWait),
		onSession("session.scrollback", "Reads lines that have left the screen, and the screen's after them.", (*client).sessionScrollback),
		onSession("session.search", "Finds text in scrollback and screen.", (*client).sessionSearch),
	}
}
