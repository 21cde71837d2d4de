// Package protocoltest (no stability promise) is the suite that every dialect on a wire of package
// protocol passes, in process and as the real program: [Corpus] sends good and hostile bytes and
// judges what comes back.
package protocoltest
