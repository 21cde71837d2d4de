// Package tmux is the command tmux: enough of tmux's command line that a harness written for tmux
// drives ptywright unchanged. [Command] makes it; [Main] runs a command line of tmux, also when the
// program is started under that name ([Named]).
//
// A tmux server is a ptywright server on a socket of its own, each pane a session of it. What tmux
// knows beyond that (names and numbers of sessions and windows, options, buffers, channels) is in a
// file beside the socket, see state.go; commands that change it hold a lock on another file
// meanwhile. No process of the bridge outlives a command, but for the one that a pipe-pane needs,
// and wait-for while it waits.
//
// # Goroutines
//
//	started by   does                                ends
//	listen       accepts one connection of a waker   with it, or when the bell is closed; not waited for
//	Pipe         waits for the command or a bell     with the process
package tmux
