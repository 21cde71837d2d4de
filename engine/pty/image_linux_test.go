package pty

import "testing"

// TestImage: it is the same as long as a process executes a program, and another with the next.
func TestImage(t *testing.T) {
	t.Parallel()
	p := start(t, Command{Path: "/bin/sh", Args: []string{"-c", `echo '<ready>'; read x; exec /bin/sh -c 'echo "<again>"; read x'`}})
	expect(t, p, "ready")
	first := Image(p.PID())
	if first == "" || Image(p.PID()) != first {
		t.Errorf("%q, then %q", first, Image(p.PID()))
	}
	if _, err := p.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	expect(t, p, "again")
	if second := Image(p.PID()); second == "" || second == first {
		t.Errorf("behind an execve %q, before %q", second, first)
	}
	if got := Image(1 << 30); got != "" {
		t.Errorf("of nobody: %q", got)
	}
}
