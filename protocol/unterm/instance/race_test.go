package instance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// watchFiles reads every file that a client reads, over and over, until stop is closed, and
// complains about what is not whole. It returns how often it has looked.
func watchFiles(t *testing.T, root string, stop <-chan struct{}) (looks int) {
	for ; ; looks++ {
		select {
		case <-stop:
			return looks
		default:
		}
		files, _ := filepath.Glob(filepath.Join(root, "instances", "*.json"))
		hidden, _ := filepath.Glob(filepath.Join(root, "instances", ".*.json"))
		files = append(append(files, hidden...), filepath.Join(root, activeFile), filepath.Join(root, serverFile))
		for _, path := range files {
			b, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			var r Record
			if err != nil || json.Unmarshal(b, &r) != nil || r.PID == 0 || !r.usable() || place(r.ID) == names {
				t.Errorf("%s was read as %q, %v", path, b, err)
			}
		}
		if b, err := os.ReadFile(filepath.Join(root, tokenFile)); err == nil && len(b) != 36 {
			t.Errorf("the token was read with %d bytes", len(b))
		}
	}
}

func TestTwentyServersAtOnce(t *testing.T) {
	root := newRoot(t)
	const servers = 20
	var all [servers]*server
	for n := range all {
		all[n] = prepare(t, root)
	}
	// Some of what the servers find is of the dead: they sweep and claim at once.
	for n := range servers / 2 {
		b, _ := Record{ID: name(n), PID: 1, PIDStarted: "1", AuthToken: NewToken(), MCPPort: 1}.encode()
		put(t, root, name(n)+".json", string(b))
	}
	stop := make(chan struct{})
	var wait sync.WaitGroup
	var looks atomic.Int64
	for range 2 {
		wait.Go(func() { looks.Add(int64(watchFiles(t, root, stop))) })
	}
	for _, s := range all {
		s.tell("go")
	}
	seen, ports := make(map[string]bool), make(map[int]bool)
	for _, s := range all {
		r := s.answer()
		seen[r.ID], ports[r.MCPPort] = true, true
	}
	if len(seen) != servers || len(ports) != servers {
		t.Errorf("%d names and %d ports for %d servers", len(seen), len(ports), servers)
	}
	if got, want := ids(t, root), strings.Join(letters[:servers], " "); got != want {
		t.Errorf("List has %s, want %s", got, want)
	}
	// And they leave, or die, with the readers still there.
	for n, s := range all[1:] {
		if n%2 == 0 {
			s.kill()
		} else {
			s.say("leave")
		}
	}
	close(stop)
	wait.Wait()
	if looks.Load() < servers {
		t.Errorf("the readers looked %d times, which shows nothing", looks.Load())
	}
	checkPointers(t, root, all[0].say("still here?").ID)
}

// TestClaimRacesSweep has names taken and given back in the way of those who sweep.
func TestClaimRacesSweep(t *testing.T) {
	root := newRoot(t)
	var sweepers, claimers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := List(root); err != nil {
					t.Error(err)
				}
				if err := folder(root).mend(nobody); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
		})
	}
	for range 4 {
		claimers.Go(func() {
			for range 25 {
				i, err := Claim(root, wanted(1))
				if err != nil {
					t.Error(err)
					return
				}
				r, _ := i.now()
				if _, got, ok := readRecord(filepath.Join(root, "instances", r.ID+".json")); !ok || got != r {
					t.Errorf("%s was lost right after it was claimed", r.ID)
				}
				if err := i.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	claimers.Wait()
	close(stop)
	sweepers.Wait()
	if got := ids(t, root); got != "" {
		t.Errorf("List has %s", got)
	}
}
