package plugins

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/vt"
)

// others are the agents whose plugins are made with ptywright.agent.
var others = []string{"codex", "gemini-cli", "opencode"}

// A shot is one screen of an agent, and what it shows.
type shot struct {
	agent, name string
	rows, cols  int
	state       string
	bytes       string // that draw it, with its title and what the program had reported
}

// shotSize is the size in a shot's name.
var shotSize = regexp.MustCompile(`-(\d+)x(\d+)$`)

// resized are shots that were taken after a resize.
var resized = map[string][2]int{"codex/permission-tiny": {12, 50}, "gemini-cli/permission-tiny": {14, 60}, "opencode/permission-tiny": {14, 60}, "opencode/permission-big": {40, 120}, "opencode/permission-wide": {30, 200}}

// takesPastes turns bracketed paste on, as all of these programs do before they draw anything.
const takesPastes = "\x1b[?2004h"

// loadShots reads testdata/others.txtar.gz: screens of codex 0.169.0, gemini-cli 0.61.0 and
// opencode 1.18.33, each drawn anew from its cells' text, colours, bold, dim and inverse, after its
// title and program status. They were taken from the programs as they talked to stand-ins of their
// APIs.
var loadShots = sync.OnceValues(func() (map[string]shot, error) {
	archive, err := readArchive("testdata/others.txtar.gz")
	if err != nil {
		return nil, err
	}
	shots := map[string]shot{}
	for head, data := range archive {
		full, state, _ := strings.Cut(head, " ")
		s := shot{state: state}
		s.agent, s.name, _ = strings.Cut(full, "/")
		size := shotSize.FindStringSubmatch(full)
		s.rows, _ = strconv.Atoi(size[1])
		s.cols, _ = strconv.Atoi(size[2])
		if r, ok := resized[strings.TrimSuffix(full, size[0])]; ok {
			s.rows, s.cols = r[0], r[1]
		}
		if s.bytes, err = strconv.Unquote(strings.TrimSuffix(data, "\n")); err != nil {
			return nil, fmt.Errorf("%s: %w", full, err)
		}
		s.bytes = takesPastes + s.bytes
		shots[full] = s
	}
	return shots, nil
})

func shots(t testing.TB) map[string]shot {
	t.Helper()
	all, err := loadShots()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// view draws a shot.
func (s shot) view() *engine.View {
	term := vt.New(s.rows, s.cols, vt.Options{})
	var said engine.Reports
	for _, e := range term.Feed([]byte(s.bytes)).Events {
		said = said.After(&e)
	}
	now := time.Unix(1, 0)
	return &engine.View{Screen: term.Snapshot(), Reports: said, Sequence: 1, At: now, Changed: now}
}

// patience bounds one call in these tests. They test what the plugins say, and a busy machine may
// suspend a process for longer than the host allows.
const patience = time.Minute

// judge is classify with patience.
func judge(m machine, plugin string, l *look) (*State, error) {
	value, err := m.call(context.Background(), "classify", patience, l, nil)
	if err != nil {
		return nil, err
	}
	return decodeState(plugin, value)
}
