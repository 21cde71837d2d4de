// Package programtest (no stability promise) runs ptywright in tests of commands: a test binary whose
// TestMain calls Main is ptywright when New starts it. At a test's end NoneLeft looks for processes
// that it left.
package programtest
