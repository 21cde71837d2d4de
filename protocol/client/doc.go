// Package client drives terminal programs through a ptywright server. Begin with [Spawn], which
// starts a program under a private server:
//
//	s, err := client.Spawn(ctx, client.Config{Program: "sh", Env: map[string]string{"PS1": "$ "}})
//	defer s.Close(ctx)
//	_, err = s.Expect(ctx, client.Regexp(`\$$`))    // a state: the prompt is there
//	err = s.Send(ctx, "echo $((6*7))\n")
//	m, err := s.Wait(ctx, client.Regexp(`(?m)^42$`)) // an event: only what came after the input
//
// [Start] starts a private server for many programs, and [Dial] connects to one that listens on a
// socket; [Client.Spawn] starts programs there. [Client.Call] calls any method of the wire.
//
// # Waits
//
// [Session.Wait] waits for an event: only what came after the session's last input counts, or after
// a [Position]. [Session.Expect] waits for a state of the screen, whenever it came about. A matcher
// says what for: [Text], [Regexp], [Output], [Title], [Cursor], [Stable], [Exited], [Bell] and
// [Command], and [Any], [All] and [Not] of those.
//
// # Errors
//
// What a server refuses is an [*Error], with a [Reason] that [errors.Is] finds, and the
// [Evidence] of a wait that did not match:
//
//	if errors.Is(err, client.ErrTimeout) {
//		fmt.Println(client.EvidenceOf(err))
//	}
//
// A context that ends cancels the request on the server too.
//
// # Concurrency
//
// All methods may be called by any number of goroutines. Requests are written in the order of the
// calls, and the server starts those of one session one after the other: a request queues behind
// its session's unfinished wait. A client has two goroutines, which [Client.Close] ends;
// [Session.Interact] has two more while it runs.
//
// The package imports nothing of the project: it knows only the wire. It has a connection of its own:
// in sourcegraph/jsonrpc2 a call that writes to a full pipe ignores its context, a call that is given
// up forgets the answer that says whether its cancel came in time, and no message is too large.
package client
