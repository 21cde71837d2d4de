// Package engine runs programs on pseudo-terminals. [New] makes an engine and [Engine.Spawn] starts
// a program; [Session.Wait] waits for a match of package matchers, [Session.Do] types, and
// [Session.View] returns the screen:
//
//	e := engine.New(engine.Options{})
//	defer e.Close(ctx) // ends the programs and everything they started
//	s, err := e.Spawn(ctx, engine.Config{Program: "python3"})
//	_, err = s.Wait(ctx, matchers.Text(">>>"))
//	sent, err := s.Do(ctx, engine.Text("6*7\r")) // \r is the Enter key
//	out, err := s.Wait(ctx, matchers.Text("42"), engine.After(sent.Sequence))
//
// Any number of goroutines may read, wait and type. A wait that fails returns a *[WaitError] with
// the last view; Evidence of package reading says in words what the matcher lacked. Nothing else is
// redacted: package redact hides the secrets in a text. Package record writes a recording when its Cast is one of [Config].Taps, and
// package picture draws a view's Screen.
//
// # The life of a byte
//
// The child writes; the pump (session.go, exit.go) reads it from the PTY (package pty) and, under
// the session's lock, passes it to the fold (fold.go): the terminal (package vt), the transcript
// (transcript.go), the shell's blocks (block.go) and the reports (reports.go). It then calls the
// session's taps and signals the pulse (internal/pulse). Each waiter wakes, takes a [View] and
// checks it. While an action waits until it was read (unread.go), the pump and the typing goroutine
// count the output that the input cannot have caused: what was written while it was unread, and the
// terminal's echo. The terminal's replies go to the input queue (input.go), with the bytes of
// actions: everything bound for the child is in one order.
//
// The transcript is also what [Session.At] and [Session.Past] show the session from as it was
// (past.go): the session notes the time of each step and writes a keyframe now and then, and the
// goroutine that asks feeds what came after it to a fold of its own. A latched wait keeps such a
// fold while it lasts, and feeds it what is new each time that it wakes (latched.go).
//
// # Goroutines
//
// Every goroutine is awaited by its starter; this package has no other go statement.
//
//	goroutine  per      started by         does                                         ends when                 awaited by
//	pump       session  Engine.Spawn       reads output, feeds, publishes the exit      the PTY ends or is closed  Session.Close
//	reaper     session  Engine.Spawn       waits for the leader, bounds the drain       the leader is reaped       Session.Close
//	feeder     session  a write that would
//	                    block              writes the input queue                       the queue is empty         Session.Close
//	frame      session  time.AfterFunc     ends a synchronized update after its bound   it ran                     nobody: it only
//	                                                                                                              takes the lock
//	later      session  time.AfterFunc     wakes waiters after a flood's batch          it ran                     nobody: it only
//	                                                                                                              signals the pulse
//	settled    session  time.AfterFunc     checks the terminal's echo after output      it ran                     nobody: it only
//	                                                                                                              takes the lock
//	leash      session  time.AfterFunc,
//	                    pty for memory     ends a session that went over a limit        the session is ended       Session.Close
//	after      session  Session.Close      runs AfterClose's function                   it ran                     nobody: it may
//	                                                                                                              only tidy up
//	tidier     engine   a session ends or
//	                    its last hold is
//	                    released           forgets ended sessions past their bounds     the bounds are kept        Engine.Close
//	waiter     session
//	           of a wait
//	           for many Engine.WaitMany    waits for one of the sessions                the wait is decided       Engine.WaitMany
//	closer     session  Engine.Close       closes one session                           the session is closed      Engine.Close
//
// # Locks
//
// Engine.mu guards the registry, Session.mu the terminal, transcript and flags, inputQueue.mu the
// queue, Session.echo what is known of the terminal's echo, Session.looking the order of looks at
// what is unread. They are never nested, except Session.mu within Session.echo and Session.looking,
// and none is held across I/O, a matcher, a tap or a channel operation that can block: under
// Session.echo the terminal's modes are read, which takes a microsecond, and Options.Typed is called,
// which must not block; under Session.looking the kernel's queues are counted, which takes ten.
// Session.turn and Engine.looking are not locks but one-slot channels: the first, taken with a
// context, is held while waiting for the program, the second while the process table is read.
//
// # The end of a session
//
// A session has ended when its leader has exited (exit.go), its terminal is closed and its last
// process is gone. It no longer counts against the limit on running sessions, and can be read until
// newer ones push it out (ended.go): it is then forgotten, as if it had been closed, and only a
// [ForgottenError] is left. A hold keeps it longer: waits and actions hold it while they run, a
// lease until it is released, [Config].Kept for good.
package engine
