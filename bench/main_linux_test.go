package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be every program of a run, as the command is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "child" || os.Args[1] == "serve" || os.Args[1] == "lines" || os.Args[1] == "test" || os.Args[1] == "mcp") {
		main()
		return
	}
	os.Exit(m.Run())
}

// Every measurement runs to its end, with the yardstick server in ptywright's place.
func TestRunAgainstTheStub(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else each child takes a second to end under -race
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	small := bench{repeats: 1, mb: 1, samples: 3, requests: 1000, sessions: 5, flood: 1e6, frames: 64 << 10, noise: 2, rest: 10 * time.Millisecond}
	if err := run(self, regexp.MustCompile(""), small, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	line := regexp.MustCompile(`^\| [^|]+ \| -?[\d.]+ ?[a-zA-Z/]+ \| -?[\d.]+ ?[a-zA-Z/]+, [^|]+ \| [\d.]* \| [^|]* \| (yes|NO)? \|$`)
	_, table, _ := strings.Cut(out.String(), "---: | --- | --- |\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	for _, r := range rows {
		if !line.MatchString(r) {
			t.Errorf("not a row: %s", r)
		}
	}
	if len(rows) != 38 {
		t.Errorf("%d rows, want 38:\n%s", len(rows), table)
	}
}
