package instance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// text is the file of a record.
func text(t *testing.T, r Record) string {
	t.Helper()
	b, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// age makes a file older than what is left alone.
func age(t *testing.T, path string) {
	t.Helper()
	then := time.Now().Add(-2 * unreadableFor)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// TestForgedFiles claims beside a file that names no live instance: it is in nobody's way, and
// gone.
func TestForgedFiles(t *testing.T) {
	real := newRoot(t)
	_, living := start(t, real)
	forge := func(change func(*Record)) string {
		r := living
		change(&r)
		return text(t, r)
	}
	now := time.Now().Format(startedAtLayout)
	for what, content := range map[string]string{
		"a live foreign pid":                 forge(func(r *Record) { r.PID = os.Getppid() }),
		"a live pid from before a reboot":    forge(func(r *Record) { r.BootID += "x"; r.PIDStarted += "0" }),
		"a pid that is another process now":  forge(func(r *Record) { r.PIDStarted = "1" }),
		"pid 0":                              forge(func(r *Record) { r.PID = 0 }),
		"pid -1":                             forge(func(r *Record) { r.PID = -1 }),
		"a pid that would be cut":            forge(func(r *Record) { r.PID += 1 << 32 }),
		"a pid that nobody has":              forge(func(r *Record) { r.PID = maxPID }),
		"a pid of twenty digits":             strings.Replace(text(t, living), `"pid": `, `"pid": 99999999999`, 1),
		"a pid that is text":                 `{"id":"alpha","pid":"1","mcp_port":1,"auth_token":"t"}`,
		"as Unterm writes it, long ago":      forge(func(r *Record) { r.PIDStarted, r.BootID, r.StartedAt = "", "", "2020-01-01T00:00:00+00:00" }),
		"as Unterm writes it, later":         forge(func(r *Record) { r.PIDStarted, r.BootID, r.StartedAt = "", "", "2100-01-01T00:00:00+00:00" }),
		"as Unterm writes it, without time":  forge(func(r *Record) { r.PIDStarted, r.BootID, r.StartedAt = "", "", "today" }),
		"as Unterm writes it, pid 1":         forge(func(r *Record) { r.PID, r.PIDStarted, r.BootID, r.StartedAt = 1, "", "", now }),
		"as Unterm writes it, without port":  forge(func(r *Record) { r.PIDStarted, r.BootID, r.MCPPort = "", "", 0 }),
		"as Unterm writes it, without token": forge(func(r *Record) { r.PIDStarted, r.BootID, r.AuthToken = "", "", "" }),
	} {
		t.Run(what, func(t *testing.T) {
			root := newRoot(t)
			put(t, root, "alpha.json", content)
			put(t, root, "../active.json", content)
			put(t, root, "../server.json", content)
			forged, _ := parse([]byte(content))
			put(t, root, "../auth_token", forged.AuthToken)
			if got := ids(t, root); got != "" {
				t.Errorf("List has %s", got)
			}
			for _, path := range []string{"instances/alpha.json", activeFile, serverFile, tokenFile} {
				if _, err := os.Lstat(filepath.Join(root, path)); err == nil {
					t.Errorf("%s is still there", path)
				}
			}
			put(t, root, "alpha.json", content)
			put(t, root, "../active.json", content)
			if got := record(t, claim(t, root)).ID; got != "alpha" {
				t.Errorf("the name went to it: we are %s", got)
			}
			checkPointers(t, root, "alpha")
		})
	}
}

// TestUntermPeer: a server that writes no fields of ours is believed if it is plausible, here on
// Linux because it listens.
func TestUntermPeer(t *testing.T) {
	root := newRoot(t)
	s, peer := start(t, root)
	peer.PIDStarted, peer.BootID = "", ""
	put(t, root, "alpha.json", text(t, peer))
	put(t, root, "../active.json", text(t, peer))
	if got := record(t, claim(t, root)).ID; got != "bravo" {
		t.Errorf("we are %s", got)
	}
	checkPointers(t, root, "alpha")
	if got := ids(t, root); got != "alpha bravo" {
		t.Errorf("List has %s", got)
	}
	if r, err := Active(root); err != nil || r != peer {
		t.Errorf("the active one is %+v, %v", r.Entry(), err)
	}
	s.kill()
	if got := ids(t, root); got != "bravo" {
		t.Errorf("List has %s", got)
	}
	checkPointers(t, root, "bravo")
}

func TestForgedPortOfALivePeer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who listens on a port")
	}
	_, r := start(t, newRoot(t))
	r.PIDStarted, r.BootID = "", ""
	if !r.Alive() {
		t.Fatal("it is taken for dead while it listens")
	}
	l, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if r.MCPPort = portOf(l); r.Alive() {
		t.Error("the port is another's, and it is taken for alive")
	}
}

// TestUnreadableFiles: what holds no record keeps its name for a minute, and is nobody's business
// for ever under a name that no instance has.
func TestUnreadableFiles(t *testing.T) {
	_, living := start(t, newRoot(t))
	other := living
	other.ID = "bravo"
	for what, content := range map[string]string{
		"empty":             "",
		"Unterm's claim":    "{}",
		"garbage":           "garbage\x00\xff",
		"cut":               text(t, living)[:100],
		"another's name":    text(t, other),
		"no object":         `["alpha"]`,
		"deep":              strings.Repeat("[", 30000),
		"trailing":          text(t, living) + "{}",
		"more than is read": strings.Repeat(" ", maxRecord) + text(t, living),
	} {
		t.Run(what, func(t *testing.T) {
			root := newRoot(t)
			young, note := put(t, root, "alpha.json", content), put(t, root, "notes.json", content)
			age(t, note)
			if got := ids(t, root); got != "" {
				t.Errorf("List has %s", got)
			}
			i := claim(t, root)
			if got := record(t, i).ID; got != "bravo" {
				t.Errorf("beside a young file we are %s", got)
			}
			if got := contents(t, young); got != content {
				t.Error("the young file was touched")
			}
			age(t, young)
			if got := record(t, claim(t, root)).ID; got != "alpha" {
				t.Errorf("beside an old file we are %s", got)
			}
			if got := contents(t, note); got != content {
				t.Error("a file that is no instance's was touched")
			}
		})
	}
}

func TestFileFromTheFuture(t *testing.T) {
	root := newRoot(t)
	path := put(t, root, "alpha.json", "{}")
	then := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	if got := record(t, claim(t, root)).ID; got != "alpha" {
		t.Errorf("we are %s", got)
	}
}

func TestWhatIsNoFile(t *testing.T) {
	root := newRoot(t)
	for _, dir := range []string{"alpha.json", "notes.json"} {
		path := filepath.Join(root, "instances", dir)
		if err := os.MkdirAll(filepath.Join(path, "precious"), 0o700); err != nil {
			t.Fatal(err)
		}
		age(t, path)
	}
	if got := record(t, claim(t, root)).ID; got != "bravo" {
		t.Errorf("we are %s", got)
	}
	for _, dir := range []string{"alpha.json", "notes.json"} {
		if _, err := os.Stat(filepath.Join(root, "instances", dir, "precious")); err != nil {
			t.Error(err)
		}
	}
	if got := ids(t, root); got != "bravo" {
		t.Errorf("List has %s", got)
	}
}

func TestHugeFile(t *testing.T) {
	root := newRoot(t)
	path := put(t, root, "alpha.json", "")
	for _, path := range []string{path, put(t, root, "../active.json", ""), put(t, root, "../auth_token", "")} {
		if err := os.Truncate(path, 1<<30); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := record(t, claim(t, root)).ID; got != "bravo" {
		t.Errorf("we are %s", got)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("it took %d bytes of memory", grown)
	}
	checkPointers(t, root, "bravo")
}

// TestMemberOfTheWrongType must not cost a live server its file.
func TestMemberOfTheWrongType(t *testing.T) {
	root := newRoot(t)
	_, r := start(t, root)
	path := put(t, root, "alpha.json", strings.Replace(text(t, r), `"title": null`, `"title": {"text": 5}`, 1))
	age(t, path)
	if got := ids(t, root); got != "alpha" {
		t.Errorf("List has %q", got)
	}
}

func TestLockIsNotWaitedForForEver(t *testing.T) {
	f := folder(newRoot(t))
	if err := f.make(); err != nil {
		t.Fatal(err)
	}
	unlock, err := f.lock()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := f.lockWithin(time.Millisecond); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "instances.lock") {
			t.Errorf("the error is %v", err)
		}
	}
	unlock()
	unlock, err = f.lockWithin(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestLockOfAnotherProcess is given up, and had and given back as soon as the other one is done.
func TestLockOfAnotherProcess(t *testing.T) {
	f := folder(newRoot(t))
	if err := f.make(); err != nil {
		t.Fatal(err)
	}
	other := flock.New(filepath.Join(string(f), "instances.lock")) // another open file is as good as another process
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	for range 3 { // only the first waits for the other; the rest wait for the first
		if _, err := f.lockWithin(time.Millisecond); !errors.Is(err, ErrLocked) {
			t.Errorf("the error is %v", err)
		}
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	unlock, err := f.lockWithin(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestFileSystemWithoutLinks(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(from, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := moveLocked(from, to); err != nil || contents(t, to) != "new" {
		t.Errorf("moved to a free name: %v", err)
	}
	if err := os.WriteFile(from, []byte("newer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := moveLocked(from, to); !errors.Is(err, fs.ErrExist) || contents(t, to) != "new" {
		t.Errorf("moved to a name that is taken: %v", err)
	}
}

// TestFolderInTheWay of a pointer.
func TestFolderInTheWay(t *testing.T) {
	root := newRoot(t)
	put(t, root, "../active.json/precious", "")
	_, err := Claim(root, Record{MCPPort: 1, AuthToken: "SECRET"})
	if err == nil || !strings.Contains(err.Error(), "active.json: there is a folder in its place; move it away") || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("the error is %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(root, "instances")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func FuzzParse(f *testing.F) {
	b, _ := Record{ID: "alpha", PID: 1, Title: "t", PIDStarted: "1"}.encode()
	for _, seed := range []string{string(b), "{}", `{"id":"alpha","pid":1e99}`, `{"id":5}`, "[", "\xff", `{"ID":"a","id":"b"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, ok := parse(b)
		if !ok {
			if r.ID != "" {
				t.Errorf("%+v is nothing", r)
			}
			return
		}
		r.Alive()
		r.startedAfter(Record{StartedAt: "2026-05-03T11:42:08.10+00:00"})
		again, err := r.encode()
		if err != nil {
			return // too large
		}
		if got, ok := parse(again); !ok || got != r {
			t.Errorf("%+v became %+v", r, got)
		}
	})
}
