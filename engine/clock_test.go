package engine_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoWallClock keeps wall time out of the packages that wait: a time that has lost its monotonic
// reading (Round, Truncate, a parsed or converted one) jumps when the clock is set.
func TestNoWallClock(t *testing.T) {
	wall := regexp.MustCompile(`\.Round\(|\.Truncate\(|time\.Unix(Milli|Micro)?\(|\.Unix(Nano|Milli|Micro)?\(\)|time\.Date\(|time\.Parse\(`)
	for _, dir := range []string{".", "../matchers", "../protocol", "../protocol/native"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			source, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(source), "\n") {
				if wall.MatchString(line) && !strings.Contains(line, "time.Unix(1, 0)") { // a deadline that has passed, whatever the clock
					t.Errorf("%s:%d: %s", f, i+1, strings.TrimSpace(line))
				}
			}
		}
	}
}
