// Package protocol (no stability promise) serves JSON-RPC 2.0 over any stream of bytes: make a
// [Conn] with [NewConn] for one stream, or a [Server] for every connection of a listener made by
// [Listen]. It handles framing, envelopes, batches, the order of requests on a connection,
// cancellation, bounds and listeners. It has no methods: a vocabulary is a [Dialect], and each has
// its own folder below this one.
//
// # One request from the wire to its reply
//
//	framing.go   bytes -> one message, capped before memory is taken
//	scan.go      message -> envelope, strict
//	dispatch.go  order, queues, cancellation; runs the dialect's Call
//	encode.go    result or error -> bytes
//	outbox.go    bytes -> the stream, few writes
//
// # Goroutines
//
// Per connection: one that leads (it reads, and runs each request that does not wait in place), one
// for every request that waits, and one that writes. A request that is about to wait calls [Yield]:
// it gives up the connection's turn, and another goroutine leads from there. So a quick request
// costs no goroutine switch, and a waiting one costs a goroutine.
//
// # Order
//
// See [Ordering]. The turn is a one-slot channel and not a mutex: a select can wait for it together
// with a context, and testing/synctest sees through it. It is never held across I/O, except by a
// handler's own I/O before it yields.
package protocol
