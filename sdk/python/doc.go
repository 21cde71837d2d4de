// Package python (no stability promise) has no Go: beside it are the Python SDK and its tests, which
// the tests of this package run.
package python
