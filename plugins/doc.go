// Package plugins teaches ptywright a TUI: what a plugin's manifest says, what its files are, and what it may do.
//
// A plugin is a folder with a manifest.toml and Lua files. [Open] reads one from disk, [OpenFS] one that is
// embedded; package internal/sandbox runs the Lua.
package plugins
