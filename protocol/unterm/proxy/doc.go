// Package proxy (no stability promise) keeps the proxy settings of an Unterm root, in its file
// proxy.json, and checks whether the proxies answer. Make a [Store] with [New].
//
// A [Store] has no copy of the file: each call reads it, and each that changes something reads,
// changes and replaces it under a lock, so that servers of one root do not undo each other's
// changes. It only connects to a proxy, and sends nothing. It looks for proxies (in the system's
// settings, the environment, on loopback ports) only while the settings are enabled, have the mode
// "auto" and no URL of their own.
//
// URLs may hold passwords. Results and errors of calls show [Hidden] for them; the file, which only
// its owner can read, and [Store.Environment], which is for children, have them. A hidden URL that
// a client sends back means the stored one.
package proxy
