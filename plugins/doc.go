// Package plugins (no stability promise) teaches ptywright a TUI: plugins, what their manifests
// allow, and the adapters that drive sessions with them.
//
// A plugin is a folder with a manifest.toml and Lua files. [NewCatalog] returns a [Catalog] of the
// built-in ones; [Catalog.Load] adds others, and [Catalog.Start] starts a program under one, as an
// [Adapter]. An adapter says what state a view shows ([Adapter.Look]), why ([Adapter.Explain]) and
// what has happened ([Adapter.Events]); it performs intents ([Adapter.Send]) and makes matchers
// ([Adapter.Matcher]). The package knows no JSON-RPC and no particular program: its knowledge of
// Claude Code or codex is Lua.
//
// # The life of an intent
//
// The plugin's function gets the client's params and the screen (look.go) and returns actions. All
// of them are checked against the manifest's permissions before the first is performed (intent.go).
// Between two actions the plugin may require something to appear first; and it may say how the
// screen looks once the input was submitted, which the host then waits for. The [Receipt] reports
// the outcome.
//
// # The Lua
//
// An instance (instance.go) is a plugin's code with its memory: one per adapter, and one per plugin
// for predicates without an adapter. One goroutine at a time enters it, for one call, which has
// limits (package internal/sandbox) and cannot wait for anything. A machine that exceeds a limit is
// discarded. The machine interface (machine.go) could also be implemented by another process.
//
// # Goroutines
//
//	goroutine  per      started by     does                                            ends when                  awaited by
//	keep       adapter  Catalog.Start  looks when the session has changed, notes       the session's output ends  Adapter.Close
//	                                   states and events                               or the adapter is closed
//
// # Locks
//
// Catalog.mu guards the registry, Adapter.mu the newest state and the journal. Neither is held
// across Lua, I/O or anything that waits. Waits are for one-slot channels, taken with a context:
// instance.inside for one call of Lua, Adapter.sending for one intent, Adapter.turn for one turn;
// always in the order turn, sending, inside.
package plugins
