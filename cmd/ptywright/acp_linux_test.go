package main

import "testing"

// TestACPProxyKilledOutright leaves nothing either: the agent gets a signal, and terminals have
// their watcher.
func TestACPProxyKilledOutright(t *testing.T) {
	t.Parallel()
	a := startStubborn(t)
	if err := a.p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = a.p.Wait() // how it ended is ours
	gone(t, marked(t, a.p.Mark))
	noneLeft(t, a.p.Mark)
}
