// Package plugins (no stability promise) teaches ptywright a TUI: plugins, what their manifests
// allow, and the adapters that drive sessions with them.
//
// A plugin is a folder with a manifest.toml and Lua files. A [Catalog] has the built-in ones and those that were loaded; its
// Start starts a program under one, as an [Adapter]. An adapter says what state a view shows ([Adapter.Look]), why
// ([Adapter.Explain]) and what has happened ([Adapter.Events]); it performs intents ([Adapter.Send]) and makes matchers
// ([Adapter.Matcher]). The package knows no JSON-RPC and no program: what it knows of Claude Code or codex is Lua.
//
// # The life of an intent
//
// The plugin's function is called with the client's params and the screen (look.go) and returns actions. All of them are
// checked against the manifest's permissions before the first is performed (intent.go). Between two of them the plugin may want
// to see something first; and it may say how it looks when what was typed was submitted, which the host then waits for. The
// [Receipt] tells.
//
// # The Lua
//
// An instance (instance.go) is a plugin's code with its memory: one an adapter, and one a plugin for predicates that are bound to
// none. It is entered by one goroutine at a time, for one call, which has its limits (package internal/sandbox) and cannot wait
// for anything. A machine that passes a limit is thrown away. Behind the machine interface (machine.go) there could be
// another process.
//
// # Goroutines
//
//	goroutine  per      started by     does                                            ends when                  awaited by
//	keep       adapter  Catalog.Start  looks when the session has changed, notes       the session's output ends  Adapter.Close
//	                                   states and events                               or the adapter is closed
//
// # Locks
//
// Catalog.mu guards the registry, Adapter.mu the newest state and the journal. Neither is held across Lua, I/O or anything that
// waits. What is waited for is a one-slot channel, taken with a context: instance.inside for one call of Lua, Adapter.sending for
// one intent, Adapter.turn for one turn; always in the order turn, sending, inside.
package plugins
