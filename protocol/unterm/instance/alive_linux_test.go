package instance

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestLookAtOneself(t *testing.T) {
	p, sight := look(os.Getpid())
	age := time.Since(p.at)
	if sight != seen || p.started == "" || age < 0 || age > time.Hour {
		t.Errorf("%+v, %d, %s ago", p, sight, age)
	}
	again, _ := look(os.Getpid())
	if d := again.at.Sub(p.at).Abs(); again.started != p.started || d > clockError {
		t.Errorf("a second look sees it %s apart", d)
	}
}

func FuzzParseStat(f *testing.F) {
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, ") Z 0 (")
	f.Add([]byte("1 (x) Z"), "")
	f.Fuzz(func(t *testing.T, b []byte, comm string) {
		parseStat(b)
		// Whatever a program calls itself.
		line := "7 (" + comm + ") S 1 7 7 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0\n"
		if start, dead, ok := parseStat([]byte(line)); start != 4242 || dead || !ok {
			t.Errorf("%q: %d, %v, %v", line, start, dead, ok)
		}
	})
}

func TestStatOfTheDead(t *testing.T) {
	for state, want := range map[string]bool{"Z 1": true, "Z 2": false, "X 1": true, "S 1": false, "T 1": false} {
		letter, threads, _ := strings.Cut(state, " ")
		line := "7 (a) " + letter + " 1 7 7 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 " + threads + " 0 4242 0 0\n"
		if _, dead, ok := parseStat([]byte(line)); dead != want || !ok {
			t.Errorf("%s: dead is %v", line, dead)
		}
	}
}

func FuzzListening(f *testing.F) {
	b, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil {
		f.Skip("needs /proc/self/net/tcp: ", err)
	}
	f.Add(b, 19876)
	f.Fuzz(func(t *testing.T, b []byte, port int) {
		inodes := make(map[string]bool)
		listening(b, port, inodes)
		if len(inodes) > 0 && !strings.Contains(strings.ToUpper(string(b)), strings.ToUpper(strconv.FormatInt(int64(port), 16))) {
			t.Errorf("port %d is not in %q", port, b)
		}
	})
}
