//go:build unix && !linux

package main

import "testing"

// offline reports that a test is to be run here: there are no network namespaces, and the programs
// are told to stay at home by their settings.
func offline(t *testing.T) bool { return true }
