// Package client speaks the native dialect to a ptywright server. Call [Dial] for a server on a
// socket, [Start] for a private one, or [New] for any stream; each returns a [Client], which is one
// connection.
//
//	c, err := client.Dial(ctx, socket)
//	s, err := c.Create(ctx, client.Config{Program: "sh"})
//	_, err = s.Text(ctx, "echo $((6*7))\r")
//	m, err := s.Wait(ctx, client.Contains("42"), client.WaitOptions{})
//
// [Client.Call] calls any method; those that commands and tests need most have typed helpers on
// [Client] and [Session]. The structs of wire.go have the wire's names. The package imports nothing
// of the project: it knows only the wire.
//
// All methods may be called by any number of goroutines. Requests are written in the order of the
// calls, and the server orders those of one session as its documentation says: a request queues
// behind its session's unfinished wait.
package client
