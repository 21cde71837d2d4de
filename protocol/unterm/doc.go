// Package unterm (no stability promise) serves the methods of Unterm, a terminal whose clients
// speak lines of JSON-RPC over loopback TCP, to the sessions of an engine, without any windows.
// Start with [New]. Where the running program differs from its pages, this one follows the program;
// where that answers with a stub, or wrongly, this one does not.
//
// # One request from the wire to its reply
//
//	conn.go    a line -> an envelope, the login, one request after the other, a reply a line
//	table.go   method -> row
//	params.go  members as Unterm reads them: of another type is as good as absent
//	a row      pane.go, session.go, screen.go, exec.go ... : the engine's session, looked at by package reading
//	conn.go    result or error -> a line
//
// The connection is not one of package protocol: its dialects follow JSON-RPC 2.0 strictly, answer
// out of order and notify. An Unterm client matches answers by their order alone, expects one for
// every line it sent, sends the same id each time, and takes an unsolicited message for an answer.
//
// # Panes
//
// A session of the engine is a pane, named by a number from 0 that is never reused. Sessions of
// other dialects have one, too. Pane 0 is a shell that runs before the first client connects. A
// pane whose program has ended stays for a minute, marked as dead, so that its last output can be
// read.
//
// # Goroutines
//
//	goroutine  per         started by  does                                    ends when                       awaited by
//	accept     server      Serve       accepts, evicts peers without a login   ctx ends                        Serve
//	serve      connection  accept      runs requests one by one, and replies   the peer is gone, or ctx ends   Serve
//	read       connection  serve       reads one line ahead                    the connection is closed        serve
//	linger     pane of     create      closes a pane a minute after its end    the session is closed           Close
//	           this dialect
//	follow     server      New         writes the directory of pane 0's shell  pane 0 is closed                Close
//	                                   to the record
//
// All text that leaves is redacted, and so are the files under the root. Matching is done on the
// original text.
package unterm
