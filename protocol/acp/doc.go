// Package acp (no stability promise) serves the terminals of the Agent Client Protocol
// (agentclientprotocol.com, protocol version 1) from the engine: an agent starts commands with
// terminal/create, reads and awaits them, and ends them.
//
// [NewTerminals] makes the [Terminals] of one connection, which know no wire. A [Dialect] serves
// them over one, as the client's side of the protocol: v1.go has the shapes, the table, and the
// only function from an error to a code. A [Proxy] relays between an editor and an agent, and
// serves the agent's terminals in the editor's place.
//
// Output is plain text (ansi.Plain), its newest bytes (tail.go), with secrets hidden unless the
// operator said otherwise.
//
// # Versions
//
// Version 2 of the protocol has no such methods: an agent runs its commands itself, and reports
// their output. It would be another file beside v1.go; terminals.go and tail.go stay.
//
// # Goroutines
//
// Terminals have none of their own. Those of a Proxy are listed in proxy.go.
package acp
