// Package client speaks the native dialect to a ptywright server: one [Client] is one connection, over a socket
// ([Dial]), to a server of its own ([Start]) or over any stream ([New]).
//
// Every method of the server can be called with [Client.Call]; what commands and tests need most has a typed helper
// on [Client] and [Session]. The structs of wire.go have the wire's names. The package imports nothing of the
// project: what it knows of a server is what the wire says.
//
// All methods may be called by any number of goroutines. Requests are written in the order of the calls, and the server
// orders those of one session as its documentation says: a request of a session queues behind that session's
// unfinished wait.
package client
