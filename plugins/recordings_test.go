package plugins

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// A tape is a recording of an agent: its output as it was read, and what it shows at the end.
type tape struct {
	name       string // agent/case
	rows, cols int
	steps      []tapeStep
	labels     []string
}

type tapeStep struct {
	output     string
	rows, cols int // of a resize
}

// readArchive reads a gzipped txtar archive: the text of each file, by its head.
func readArchive(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, part := range strings.Split("\n"+string(text), "\n-- ")[1:] {
		head, data, _ := strings.Cut(part, " --\n")
		files[head] = data
	}
	return files, nil
}

var loadTapes = sync.OnceValues(func() (map[string]*tape, error) {
	archive, err := readArchive("../engine/vt/testdata/recordings.txtar.gz")
	if err != nil {
		return nil, err
	}
	casts := map[string]string{}
	for head, data := range archive {
		if name, ok := strings.CutSuffix(head, ".cast"); ok {
			casts[name] = data
		}
	}
	labels, err := os.ReadFile("testdata/labels.txt")
	if err != nil {
		return nil, err
	}
	tapes := map[string]*tape{}
	for line := range strings.Lines(string(labels)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		cast, ok := casts[words[0]]
		if !ok {
			return nil, fmt.Errorf("no recording %s", words[0])
		}
		t := &tape{name: words[0], labels: words[1:]}
		if err := t.parse(cast); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		tapes[t.name] = t
	}
	return tapes, nil
})

func (t *tape) parse(cast string) error {
	lines := bufio.NewScanner(bytes.NewReader([]byte(cast)))
	lines.Buffer(nil, 16<<20)
	lines.Scan()
	var head struct{ Width, Height int }
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
		return err
	}
	t.rows, t.cols = head.Height, head.Width
	for lines.Scan() {
		var raw [3]any
		if err := json.Unmarshal(lines.Bytes(), &raw); err != nil {
			return err
		}
		s := tapeStep{output: raw[2].(string)}
		if raw[1] == "r" {
			if _, err := fmt.Sscanf(s.output, "%dx%d", &s.cols, &s.rows); err != nil {
				return err
			}
			s.output = ""
		}
		t.steps = append(t.steps, s)
	}
	return lines.Err()
}

// play shows every view of a tape, the last one with last set.
func (t *tape) play(show func(v *engine.View, last bool)) {
	term := vt.New(t.rows, t.cols, vt.Options{})
	var said engine.Reports
	for i, s := range t.steps {
		var effect vt.Effect
		if s.rows > 0 {
			effect = term.Resize(s.rows, s.cols, 0, 0)
		} else {
			effect = term.Feed([]byte(s.output))
		}
		for _, e := range effect.Events {
			said = said.After(&e)
		}
		now := time.Unix(int64(i), 0)
		show(&engine.View{Screen: term.Snapshot(), Reports: said, Sequence: uint64(i + 1), At: now, Changed: now}, i == len(t.steps)-1)
	}
}

// tapesOf returns the recordings of one agent, by name.
func tapesOf(t testing.TB, agent string) []*tape {
	t.Helper()
	all, err := loadTapes()
	if err != nil {
		t.Fatal(err)
	}
	var out []*tape
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(name, agent+"/") {
			out = append(out, all[name])
		}
	}
	if len(out) == 0 {
		t.Fatalf("no recordings of %s", agent)
	}
	return out
}

// classifier loads a plugin from its folder.
func classifier(t testing.TB, agent string) machine {
	t.Helper()
	source, err := Open(agent + "/manifest.toml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := newLuaMachine(source, slog.New(slog.NewTextHandler(t.Output(), nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func classify(m machine, plugin string, l *look) (*State, error) {
	value, err := m.call(context.Background(), "classify", 0, l, nil)
	if err != nil {
		return nil, err
	}
	return decodeState(plugin, value)
}

// dialogs is what must stand on the screen for a dialog state to be more than a guess.
var dialogs = map[string]*regexp.Regexp{
	"waiting_for_trust":           regexp.MustCompile(`(?i)trust`),
	"waiting_for_permission":      regexp.MustCompile(`(?i)do you want to|allow|permission|would you like to|approve`),
	"waiting_for_plan_approval":   regexp.MustCompile(`(?i)plan`),
	"waiting_for_enter_plan_mode": regexp.MustCompile(`(?i)plan mode\?`),
	"waiting_for_model_select":    regexp.MustCompile(`(?i)model`),
	"waiting_for_login":           regexp.MustCompile(`(?i)log ?in|sign in|api key|account|welcome`),
}

// TestRecordings wants every recording classified as its label says, every prefix of it without an
// error, and no dialog state before its dialog is on the screen.
func TestRecordings(t *testing.T) {
	for agent, least := range map[string]float64{"claude-code": 0.98, "codex": 0.95, "gemini-cli": 0.95, "opencode": 0.95} {
		t.Run(agent, func(t *testing.T) {
			if _, err := os.Stat(agent); err != nil {
				t.Fatalf("there is no plugin %s", agent)
			}
			m := classifier(t, agent)
			tapes := tapesOf(t, agent)
			right := 0
			for _, tape := range tapes {
				tape.play(func(v *engine.View, last bool) {
					s, err := classify(m, agent, &look{view: v})
					if err != nil {
						t.Fatalf("%s, sequence %d: %v", tape.name, v.Sequence, err)
					}
					if d := dialogs[s.State]; d != nil && !d.MatchString(v.Screen.Text()) {
						t.Errorf("%s, sequence %d: %s (%s) without its dialog:\n%s", tape.name, v.Sequence, s.State, s.Rule, v.Screen)
					}
					if !last {
						return
					}
					if slices.Contains(tape.labels, s.State) {
						right++
						return
					}
					t.Logf("%s: %s by rule %q (%s), want %v\n%s", tape.name, s.State, s.Rule, s.Evidence, tape.labels, v.Screen)
				})
			}
			if share := float64(right) / float64(len(tapes)); share < least {
				t.Errorf("%d of %d recordings are classified as their labels say: %.3f, at least %.2f are wanted", right, len(tapes), share, least)
			}
		})
	}
}
