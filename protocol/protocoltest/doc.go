// Package protocoltest (no stability promise) is the suite that every dialect passes. [Corpus] sends good and hostile bytes
// and judges what comes back; [Checks] hold whatever speaks JSON-RPC in lines to draining, slow readers, secrets and leaks;
// [Faults] breaks a dialect's methods.
package protocoltest
