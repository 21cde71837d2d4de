package testcmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/ptywright/ptywright/tuitest/script"
)

// A state remembers which scripts failed when they ran last: a file for each in the user's folder
// for caches, named by the script's absolute path, so that two runs beside each other do not meet.
// A nil state remembers nothing.
type state struct{ dir string }

// A failedRun is what such a file holds.
type failedRun struct {
	Script string    `json:"script"` // absolute
	At     time.Time `json:"at"`
}

func openState() (*state, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return &state{filepath.Join(cache, "ptywright", "test")}, nil
}

// path returns where a script's state is; "" when that cannot be known.
func (s *state) path(file string) (path, abs string) {
	abs, err := filepath.Abs(file)
	if s == nil || err != nil {
		return "", abs
	}
	sum := sha256.Sum256([]byte(abs))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".json"), abs
}

// failed reports whether a script failed when it ran last.
func (s *state) failed(file string) bool {
	path, _ := s.path(file)
	_, err := os.Stat(path)
	return path != "" && err == nil
}

// note takes the results of all runs of a script. What cannot be written is forgotten: only
// --last-failed needs it.
func (s *state) note(results []*script.Result) {
	if len(results) == 0 {
		return
	}
	path, abs := s.path(results[0].Script)
	if path == "" {
		return
	}
	for _, r := range results {
		if r.Outcome == script.Interrupted {
			return
		}
		if r.Outcome == script.Failed {
			data, err := json.Marshal(failedRun{abs, r.Began})
			if err == nil && os.MkdirAll(s.dir, 0o700) == nil {
				_ = os.WriteFile(path, append(data, '\n'), 0o600)
			}
			return
		}
	}
	_ = os.Remove(path)
}
