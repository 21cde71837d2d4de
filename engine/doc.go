// Package engine runs programs on pseudo-terminals. [New] makes an engine and [Engine.Spawn] starts a program;
// [Session.Wait] waits for what package matchers asks, [Session.Do] types, and [Session.View] looks:
//
//	e := engine.New(engine.Options{})
//	defer e.Close(ctx) // ends the programs and all that they started
//	s, err := e.Spawn(ctx, engine.Config{Program: "python3"})
//	_, err = s.Wait(ctx, matchers.Text(">>>"))
//	sent, err := s.Do(ctx, engine.Text("6*7\n"))
//	out, err := s.Wait(ctx, matchers.Text("42"), engine.After(sent.Sequence))
//
// Any number of goroutines may look, wait and type. A wait that fails returns a *[WaitError] with the last screen.
// Texts are the program's own: package redact hides the secrets in them.
//
// # The life of a byte
//
// The child writes; the pump (session.go, exit.go) reads it from the PTY (package pty) and, under the
// session's lock, gives it to the fold (fold.go): the terminal (package vt), the transcript
// (transcript.go), the shell's blocks (block.go) and the reports (reports.go). It then shows it to
// the session's taps and beats the pulse (internal/pulse). Whoever waits wakes, takes a [View] and
// judges it. What the terminal answers goes to the input queue (input.go), where actions wait too:
// one order for all that is bound for the child.
//
// # Goroutines
//
// Who starts one waits for it; there is no other go statement in this package.
//
//	goroutine  per      started by         does                                         ends when                 awaited by
//	pump       session  Engine.Spawn       reads output, feeds, publishes the exit      the PTY ends or is closed  Session.Close
//	reaper     session  Engine.Spawn       waits for the leader, bounds the drain       the leader is reaped       Session.Close
//	feeder     session  a write that would
//	                    block              writes the input queue                       the queue is empty         Session.Close
//	frame      session  time.AfterFunc     ends a synchronized update after its bound   it ran                     nobody: it only
//	                                                                                                              takes the lock
//	later      session  time.AfterFunc     wakes those who wait after a flood's batch   it ran                     nobody: it only
//	                                                                                                              beats the pulse
//	settled    session  time.AfterFunc     looks at the terminal's echo after output      it ran                     nobody: it only
//	                                                                                                              takes the lock
//	leash      session  time.AfterFunc,
//	                    pty for memory     ends a session that went over a limit        the session is ended    Session.Close
//	after      session  Session.Close      runs what AfterClose was given               it ran                  nobody: it may
//	                                                                                                              only tidy up
//	tidier     engine   the end of a
//	                    session, or of
//	                    what held one      forgets ended sessions past their bounds     the bounds are kept     Engine.Close
//	closer     session  Engine.Close       closes one session                           the session is closed      Engine.Close
//
// # Locks
//
// Engine.mu guards the registry, Session.mu the terminal, transcript and flags, inputQueue.mu the queue, Session.echo
// what is known of the terminal's echo. They are never nested, but for Session.mu within Session.echo, and none is held
// across I/O, a matcher, a tap or a channel operation that can block: under Session.echo the terminal's modes are asked
// for, which takes a microsecond, and Options.Typed is told, which may not block. Session.turn and
// Engine.looking are not locks but one-slot channels: the first, taken with a context, is held while waiting for the
// program, the second during a look at the process table.
//
// # The end of a session
//
// The leader ends (exit.go), the terminal closes, and the last process goes: then a session has ended. It counts no more
// against the bound on what runs, and stays to be read until newer ones push it out (ended.go): it is forgotten, as if
// it had been closed, and a [ForgottenError] is what is left. Whoever needs it for longer holds it: a wait or an action
// by itself, a lease, a session with [Config].Kept for good.
package engine
