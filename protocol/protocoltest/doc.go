// Package protocoltest (no stability promise) is the suite that every dialect passes. [Corpus]
// sends good and hostile bytes and judges the replies; [Checks] tests anything that speaks JSON-RPC
// in lines for draining, slow readers, secrets and leaks; [Faults] breaks a dialect's methods.
package protocoltest
