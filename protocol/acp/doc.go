// Package acp (no stability promise) is the Agent Client Protocol's terminals
// (agentclientprotocol.com, protocol version 1), served from the engine: an agent starts commands
// with terminal/create, reads and awaits them, and ends them.
//
// [Terminals] holds those of one connection and knows no wire. A [Dialect] speaks it over one, as the client's side of
// the protocol: v1.go has the shapes, the table, and the only function from an error to a code. A [Proxy] stands between an
// editor and an agent, passes on what they say, and serves the agent's terminals in the editor's place.
//
// Output is plain text (ansi.Plain), its newest bytes (tail.go), with secrets hidden unless the operator said otherwise.
//
// # Versions
//
// Version 2 of the protocol has no such methods: an agent runs its commands itself, and tells what they print. What serves it
// is another file beside v1.go; terminals.go, text.go and tail.go stay.
//
// # Goroutines
//
// Terminals have none of their own. Those of a Proxy are listed in proxy.go.
package acp
