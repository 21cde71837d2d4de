package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

// A disk is a file that takes so many bytes, and waits to be let write.
type disk struct {
	mu   sync.Mutex
	text bytes.Buffer
	room int           // bytes that it still takes; negative: any number
	let  chan struct{} // nil: at once
}

var errFull = errors.New("no space left on device")

// Write takes whole lines, as a logFile does.
func (d *disk) Write(p []byte) (int, error) {
	if d.let != nil {
		<-d.let
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room < 0 || len(p) <= d.room {
		if d.room >= 0 {
			d.room -= len(p)
		}
		return d.text.Write(p)
	}
	n := bytes.LastIndexByte(p[:d.room], '\n') + 1
	d.text.Write(p[:n])
	d.room -= n
	return n, errFull
}

func (d *disk) grow(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = room
}

// lines are those that the disk has, each a whole JSON object.
func (d *disk) lines(t *testing.T) (all []line) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	return linesOf(t, d.text.String())
}

func linesOf(t *testing.T, text string) (all []line) {
	t.Helper()
	for one := range strings.Lines(text) {
		var l line
		strict := json.NewDecoder(strings.NewReader(one))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&l); err != nil || !strings.HasSuffix(one, "}\n") {
			t.Fatalf("%q: %v", one, err)
		}
		all = append(all, l)
	}
	return all
}

var anAct = protocol.Act{
	Peer:  protocol.Peer{Door: "socket", UID: 1000, PID: 42, Name: "client 3", Client: "hub", Host: "web-3"},
	Began: time.Date(2026, 11, 23, 21, 30, 0, 0, time.FixedZone("", 3600)), Took: 1500 * time.Millisecond,
	Method: "session.input", Needs: protocol.RightType, Rights: protocol.RightAdmin, Session: "s1", Name: "build", Bytes: 12,
}

func writing(file appender) (*audit, *bytes.Buffer) {
	said := new(bytes.Buffer)
	return newAudit(file, redact.Default.ForAll(), slog.New(slog.NewTextHandler(said, nil))), said
}

// TestAuditLine: a line is one JSON object with what is known, in UTC; what a client or a program
// chose is redacted, cut, and cannot begin another line or change a terminal.
func TestAuditLine(t *testing.T) {
	d := &disk{room: -1}
	a, _ := writing(d)
	a.record(anAct)
	evil := protocol.Act{Began: anAct.Began, Method: "session.create", Reason: "cannot_start",
		Peer:    protocol.Peer{UID: -1, PID: -1, Client: "password: marble-otter-71", Host: "\u202e\x1b]0;x\a"},
		Program: "/bin/x\n{\"method\":\"forged\"}\x7f\u2028\u009b", Path: "/tmp/token=ghp_16C7e42F292c6912E7710c838347Ae178B4a",
		Name: "\xff\xfe", What: strings.Repeat("x", 10_000), Secret: true}
	a.record(evil)
	a.close()
	text := d.text.String()
	want := `{"time":"2026-11-23T20:30:01.500Z","door":"socket","uid":1000,"pid":42,"by":"client 3","client":"hub","host":"web-3",` +
		`"rights":"admin","method":"session.input","needs":"type","session":"s1","name":"build","bytes":12,"outcome":"ok","ms":1500}` + "\n"
	if !strings.HasPrefix(text, want) {
		t.Errorf("%s", text)
	}
	all := d.lines(t)
	if len(all) != 2 || all[1].Outcome != "cannot_start" || all[1].UID != nil || !all[1].Secret || len([]rune(all[1].What)) != auditText {
		t.Errorf("%+v", all)
	}
	for _, bad := range []string{"marble", "ghp_", "\x1b", "\x7f", "\u202e", "\u2028", "\u009b", "\a"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is in %q", bad, text)
		}
	}
}

// TestAuditNeverBlocks: a file that takes nothing holds up no request, takes no memory without
// bound, and the line that it takes next says how many are lost.
func TestAuditNeverBlocks(t *testing.T) {
	d := &disk{room: -1, let: make(chan struct{}, 1)}
	a, _ := writing(d)
	const more = 1000
	act := func(n int) protocol.Act {
		x := anAct
		x.Bytes = n + 1
		return x
	}
	// The writer may have taken any number of lines out of the queue before it waits for the disk.
	for n := range 2*auditQueue + more {
		a.record(act(n))
	}
	lost := a.State().Lost
	if lost < more || lost > auditQueue+more {
		t.Errorf("%d lines are lost", lost)
	}
	close(d.let)
	a.close()
	all := d.lines(t)
	if int64(len(all))+lost != 2*auditQueue+more {
		t.Errorf("%d lines of %d, %d lost", len(all), 2*auditQueue+more, lost)
	}
	var told int64
	for i, l := range all {
		if told += l.Lost; i > 0 && l.Bytes <= all[i-1].Bytes {
			t.Fatalf("line %d has %d bytes, after %d", i, l.Bytes, all[i-1].Bytes)
		}
	}
	if a.mu.Lock(); told+a.missing != lost {
		t.Errorf("the lines tell of %d lost, %d are untold, %d are", told, a.missing, lost)
	}
	a.mu.Unlock()
	a.record(act(0)) // after the end: nothing happens
}

// TestAuditFullDiskAtEveryByte: wherever a disk gets full, the file has whole lines, every line is
// in it or counted, once, and when there is room again it goes on by itself; the log says both.
func TestAuditFullDiskAtEveryByte(t *testing.T) {
	one, err := json.Marshal(lineOf(&anAct, strings.Clone))
	if err != nil {
		t.Fatal(err)
	}
	for room := range 3 * (len(one) + 1) {
		synctest.Test(t, func(t *testing.T) { auditOnADiskOf(t, room) })
	}
}

func auditOnADiskOf(t *testing.T, room int) {
	d := &disk{room: room}
	a, said := writing(d)
	const before = 4
	for n := range before {
		x := anAct
		x.Bytes = 12 + n // or they would be one line
		a.record(x)
	}
	synctest.Wait() // each is written or lost
	state := a.State()
	if state.Problem != errFull.Error() || state.Since.IsZero() || state.Lost == 0 {
		t.Fatalf("room for %d bytes: %+v", room, state)
	}
	d.grow(-1)
	a.record(anAct)
	a.close()
	all := d.lines(t)
	var told int64
	for _, l := range all {
		told += l.Lost
	}
	if last := all[len(all)-1]; told != state.Lost || int64(len(all)-1)+state.Lost != before || last.Bytes != anAct.Bytes {
		t.Fatalf("room for %d bytes: %d lost, told of %d, lines %+v", room, state.Lost, told, all)
	}
	if state = a.State(); state.Problem != "" || !state.Since.IsZero() {
		t.Errorf("afterwards %+v", state)
	}
	if strings.Count(said.String(), "does not take lines") != 1 || strings.Count(said.String(), "takes lines again") != 1 {
		t.Fatalf("the log says %s", said)
	}
}

// TestAuditOfTheSameAgain: a request that is repeated while the disk is busy is one line that says
// how often, and whatever else differs is another.
func TestAuditOfTheSameAgain(t *testing.T) {
	d := &disk{room: -1}
	a := &audit{file: d, clean: strings.Clone, log: slog.New(slog.DiscardHandler)}
	var lines []line
	add := func(n int, change func(*protocol.Act)) {
		for i := range n {
			x := anAct
			x.Began = x.Began.Add(time.Duration(i) * time.Second)
			change(&x)
			lines = append(lines, lineOf(&x, strings.Clone))
		}
	}
	add(3, func(*protocol.Act) {})
	add(1, func(x *protocol.Act) { x.Reason = "forbidden" })
	add(1000, func(x *protocol.Act) { x.Peer.PID = 43; x.Reason = "forbidden" })
	add(2, func(x *protocol.Act) { x.Session = "s2" })
	a.write(lines)
	var got []string
	for _, l := range d.lines(t) {
		got = append(got, fmt.Sprint(l.Times, " ", *l.PID, " ", l.Session, " ", l.Outcome))
	}
	if want := "3 42 s1 ok, 0 42 s1 forbidden, 1000 43 s1 forbidden, 2 42 s2 ok"; strings.Join(got, ", ") != want {
		t.Errorf("%s", strings.Join(got, ", "))
	}
}

// TestAuditFile: the file is made for its owner alone and appended to; one that others may write to,
// or that is none, is refused with what to do.
func TestAuditFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	open := func(name string) error {
		f := auditFlags{path(name)}
		_, done, err := f.open(redact.Default, slog.New(slog.DiscardHandler), true)
		if err == nil {
			done()
		}
		return err
	}
	for range 2 {
		if err := open("a"); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path("a"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	text, err := os.ReadFile(path("a"))
	if all := linesOf(t, string(text)); err != nil || len(all) != 4 || all[0].What != "begins" || all[3].What != "ends" || *all[0].PID != os.Getpid() {
		t.Errorf("%s, %v", text, err)
	}
	for name, mode := range map[string]fs.FileMode{"group": 0o620, "all": 0o602} {
		if err := os.WriteFile(path(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path(name), mode); err != nil {
			t.Fatal(err)
		}
		if err := open(name); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Symlink(path("a"), path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"link": "is a link", "folder": "directory", "no/file": "no such file"} {
		if err := open(name); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--audit: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a, done, err := new(auditFlags).open(redact.Default, slog.Default(), true); a != nil || err != nil || a.hook() != nil || a.shown() != nil {
		t.Errorf("without a file: %v, %v", a, err)
	} else {
		done()
	}
}

// TestRightsFlag takes the three rights, and says which they are.
func TestRightsFlag(t *testing.T) {
	var f protocol.Rights
	if f.String() != "admin" || f.Type() != "RIGHTS" {
		t.Errorf("%s, %s", &f, f.Type())
	}
	for _, name := range protocol.RightNames() {
		if err := f.Set(name); err != nil || f.String() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := f.Set("root"); err == nil || !strings.Contains(err.Error(), "read, type, admin") || f == protocol.RightAdmin {
		t.Errorf("%v, %v", err, f)
	}
}

// BenchmarkAudit is what a request pays for its line: what it costs to write is the writer's.
func BenchmarkAudit(b *testing.B) {
	a, _ := writing(&disk{room: 0})
	defer a.close()
	b.ReportAllocs()
	for b.Loop() {
		a.record(anAct)
	}
}
