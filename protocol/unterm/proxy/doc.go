// Package proxy (no stability promise) keeps the proxy settings of an Unterm root, in its file
// proxy.json, and looks whether the proxies answer.
//
// A [Store] has no copy of the file: each call reads it, and each that changes something reads, changes and replaces it
// under a lock, so that servers of one root undo nothing of each other's. A proxy is only ever connected to, never spoken
// to. Proxies are looked for (in the system's settings, the environment, on loopback ports) only while the settings are
// enabled, have the mode "auto" and no URL of their own.
//
// URLs may hold passwords. What a call returns and says in errors shows [Hidden] for them; the file, which only its owner
// can read, and [Store.Environment], which is for children, have them. A hidden URL that a client hands back means the one
// that is stored.
package proxy
