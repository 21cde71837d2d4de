package instance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// checkPointers wants all three pointers to be about this instance.
func checkPointers(t *testing.T, root, id string) {
	t.Helper()
	active := contents(t, root, activeFile)
	r, _ := parse([]byte(active))
	if r.ID != id {
		t.Errorf("active.json names %q, want %q", r.ID, id)
	}
	if server := contents(t, root, serverFile); server != active {
		t.Errorf("server.json differs from active.json:\n%s\n%s", server, active)
	}
	if token := contents(t, root, tokenFile); token != r.AuthToken || token == "" {
		t.Errorf("auth_token holds %d bytes, which are not the token", len(token))
	}
}

func TestFileIsAsThePageHasIt(t *testing.T) {
	root := newRoot(t)
	i := claim(t, root)
	text := contents(t, root, "instances", "alpha.json")
	var keys []string
	for _, m := range regexp.MustCompile(`(?m)^  "(\w+)": `).FindAllStringSubmatch(text, -1) {
		keys = append(keys, m[1])
	}
	want := "id mcp_port http_port auth_token pid started_at title cwd version platform pid_started boot_id"
	if got := strings.Join(keys, " "); got != want && got+" boot_id" != want { // Windows has no boot id
		t.Errorf("the members are %s, want %s", got, want)
	}
	if !strings.Contains(text, `"title": null,`) || !strings.Contains(text, `"cwd": "/src",`) {
		t.Errorf("an absent title is null and cwd is a path:\n%s", text)
	}
	r := record(t, i)
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+[+-]\d\d:\d\d$`).MatchString(r.StartedAt) {
		t.Errorf("started_at is %s", r.StartedAt)
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(r.AuthToken) {
		t.Error("auth_token is no UUID of version 4")
	}
	if r.PID != os.Getpid() || r.MCPPort != MCPPort || r.HTTPPort != 0 || r.Version != "1.2.3" {
		t.Errorf("the record is %+v", r.Entry())
	}
	checkPointers(t, root, "alpha")
}

func TestWhatListAndInfoTell(t *testing.T) {
	r := Record{ID: "bravo", PID: 7, StartedAt: "s", MCPPort: 1, HTTPPort: 2, AuthToken: "secret", Title: "<t>", Version: "v", Platform: "p"}
	entry, _ := marshal(r.Entry(), "")
	info, _ := marshal(r.Info(), "")
	want := `{"id":"bravo","pid":7,"started_at":"s","mcp_port":1,"http_port":2,"auth_token":"secret","title":"<t>","cwd":null,"version":"v","platform":"p"}`
	if string(info) != want {
		t.Errorf("info is\n%s, want\n%s", info, want)
	}
	if want := strings.Replace(want, `"auth_token":"secret",`, "", 1); string(entry) != want {
		t.Errorf("entry is\n%s, want\n%s", entry, want)
	}
}

func TestNamesInOrder(t *testing.T) {
	root := newRoot(t)
	var all []*Instance
	for range 28 {
		all = append(all, claim(t, root))
	}
	for n, want := range map[int]string{0: "alpha", 1: "bravo", 25: "zulu", 26: "alpha2", 27: "bravo2"} {
		if got := record(t, all[n]).ID; got != want {
			t.Errorf("instance %d is %s, want %s", n, got, want)
		}
	}
	if got, want := ids(t, root), strings.Join(letters, " ")+" alpha2 bravo2"; got != want {
		t.Errorf("List has %s, want %s", got, want)
	}
	if err := all[3].Close(); err != nil {
		t.Fatal(err)
	}
	if got := record(t, claim(t, root)).ID; got != "delta" {
		t.Errorf("the first free name is %s, want delta", got)
	}
}

func TestEveryNameTaken(t *testing.T) {
	root := newRoot(t)
	for n := range names {
		// Young, and so not to be touched.
		put(t, root, name(n)+".json", "{}")
		if place(name(n)) != n {
			t.Fatalf("%s is at %d, want %d", name(n), place(name(n)), n)
		}
	}
	_, err := Claim(root, wanted(1))
	if !errors.Is(err, ErrExhausted) || !strings.Contains(err.Error(), "no free instance name available (capped at NATO×99)") {
		t.Errorf("the error is %v", err)
	}
	for _, none := range []string{"", "alph", "alpha1", "alpha0", "alpha02", "alpha100", "alpha-2", "2", "Alpha"} {
		if place(none) != names {
			t.Errorf("%q is at %d, and is no name", none, place(none))
		}
	}
}

func TestThePointersStayWithTheFirst(t *testing.T) {
	root := newRoot(t)
	a, b, c := claim(t, root), claim(t, root), claim(t, root)
	checkPointers(t, root, "alpha")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	checkPointers(t, root, "charlie") // the one that was started last
	d := claim(t, root)
	if got := record(t, d).ID; got != "alpha" {
		t.Errorf("the freed name went to %s", got)
	}
	checkPointers(t, root, "charlie")
	b.Close()
	checkPointers(t, root, "charlie")
	c.Close()
	checkPointers(t, root, "alpha")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil || len(left) != 2 { // instances and its lock
		t.Errorf("left behind: %q, %v", left, err)
	}
	if left, _ := os.ReadDir(filepath.Join(root, "instances")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := Active(root); !errors.Is(err, ErrNone) {
		t.Errorf("the error is %v", err)
	}
}

func TestTitleAndCwd(t *testing.T) {
	root := newRoot(t)
	a, b := claim(t, root), claim(t, root)
	before := contents(t, root, activeFile)
	if err := a.SetTitle("[agent-1] <&>"); err != nil {
		t.Fatal(err)
	}
	if text := contents(t, root, "instances", "alpha.json"); !strings.Contains(text, `"title": "[agent-1] <&>",`) {
		t.Errorf("the file is\n%s", text)
	}
	if record(t, a).Title != "[agent-1] <&>" || contents(t, root, activeFile) != before {
		t.Error("the title is the instance's, and not the pointers'")
	}
	if err := a.SetCwd("/elsewhere"); err != nil {
		t.Fatal(err)
	}
	checkPointers(t, root, "alpha")
	if text := contents(t, root, activeFile); !strings.Contains(text, `"cwd": "/elsewhere",`) {
		t.Errorf("active.json is\n%s", text)
	}
	if err := b.SetCwd("/bravo"); err != nil {
		t.Fatal(err)
	}
	checkPointers(t, root, "alpha")
	if err := a.SetTitle(""); err != nil || !strings.Contains(contents(t, root, "instances", "alpha.json"), `"title": null,`) {
		t.Errorf("an empty title clears: %v", err)
	}
	if err := a.SetTitle(strings.Repeat("x", MaxTitle+1)); !errors.Is(err, ErrTitle) {
		t.Errorf("the error is %v", err)
	}
	if err := a.SetTitle(strings.Repeat("\x00", MaxTitle)); err != nil {
		t.Errorf("the longest title: %v", err)
	}
	if err := a.SetCwd("/" + strings.Repeat("\x00", maxCwd-1)); err != nil || record(t, a).Cwd == "" {
		t.Errorf("the longest cwd: %v", err)
	}
	if err := a.SetCwd("/" + strings.Repeat("x", maxCwd)); err != nil || record(t, a).Cwd != "" {
		t.Errorf("a longer cwd is none: %v", err)
	}
	a.Close()
	if err := a.SetTitle("late"); !errors.Is(err, ErrClosed) {
		t.Errorf("the error is %v", err)
	}
}

func TestCwdIsWrittenOnChangeOnly(t *testing.T) {
	root := newRoot(t)
	i := claim(t, root)
	path := filepath.Join(root, "instances", "alpha.json")
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := i.SetCwd("/src"); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.Stat(path); err != nil || !os.SameFile(was, is) {
		t.Errorf("the file was written again: %v", err)
	}
}

func TestWhatSomebodyRemovedIsPutBack(t *testing.T) {
	root := newRoot(t)
	i := claim(t, root)
	want := record(t, i)
	for what, harm := range map[string]func(){
		"the file":     func() { os.Remove(filepath.Join(root, "instances", "alpha.json")) },
		"garbage":      func() { put(t, root, "alpha.json", "garbage") },
		"the pointers": func() { os.Remove(filepath.Join(root, activeFile)); os.Remove(filepath.Join(root, tokenFile)) },
		"everything":   func() { os.RemoveAll(root) },
	} {
		harm()
		if got := record(t, i); got != want {
			t.Errorf("%s: the record is %+v, want %+v", what, got.Entry(), want.Entry())
		}
		checkPointers(t, root, "alpha")
		if got := ids(t, root); got != "alpha" {
			t.Errorf("%s: List has %s", what, got)
		}
	}
}

func TestLostNameIsReplaced(t *testing.T) {
	root := newRoot(t)
	a := claim(t, root)
	os.Remove(filepath.Join(root, "instances", "alpha.json"))
	b := claim(t, root)
	if got := record(t, b).ID; got != "alpha" {
		t.Fatalf("the second has %s", got)
	}
	if got := record(t, a); got.ID != "bravo" {
		t.Errorf("the first is %s now, want bravo", got.ID)
	}
	checkPointers(t, root, "bravo") // it is still the active one, under its new name
	if got := ids(t, root); got != "alpha bravo" {
		t.Errorf("List has %s", got)
	}
}

func TestCloseLeavesWhatIsNotOurs(t *testing.T) {
	root := newRoot(t)
	a := claim(t, root)
	foreign := contents(t, root, "instances", "alpha.json")
	foreign = strings.Replace(foreign, record(t, a).AuthToken, NewToken(), 1)
	put(t, root, "alpha.json", foreign)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, root, "instances", "alpha.json"); got != foreign {
		t.Error("another's file was removed")
	}
}

func TestCloseIsForOnce(t *testing.T) {
	root := newRoot(t)
	a := claim(t, root)
	var wait sync.WaitGroup
	for range 10 {
		wait.Go(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if _, err := a.Record(); !errors.Is(err, ErrClosed) {
		t.Errorf("the error is %v", err)
	}
	if got := ids(t, root); got != "" {
		t.Errorf("List has %s", got)
	}
}

func TestCloseOfARemovedRoot(t *testing.T) {
	root := newRoot(t)
	a := claim(t, root)
	os.RemoveAll(root)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(root); err == nil {
		t.Error("the root is back")
	}
}

func TestActiveReaderOrder(t *testing.T) {
	root := newRoot(t)
	if _, err := Active(root); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "ptywright unterm") {
		t.Errorf("the error is %v", err)
	}
	want := func(id string, port int) {
		t.Helper()
		if r, err := Active(root); err != nil || r.ID != id || r.MCPPort != port {
			t.Errorf("the active one is %s on %d: %v; want %s on %d", r.ID, r.MCPPort, err, id, port)
		}
	}
	a := claim(t, root)
	claim(t, root)
	want("alpha", MCPPort)
	os.Remove(filepath.Join(root, activeFile))
	want("bravo", MCPPort) // started last
	a.Close()

	root = newRoot(t)
	put(t, root, "../server.json", `{"mcp_port":5,"auth_token":"t"}`)
	put(t, root, "../auth_token", "u")
	want("", 5)
	os.Remove(filepath.Join(root, serverFile))
	want("", MCPPort)
}

// TestOldServerJSON: an Unterm from before there were instances has a server.json and nothing else.
func TestOldServerJSON(t *testing.T) {
	root := newRoot(t)
	old := `{"mcp_port":5,"auth_token":"t"}`
	put(t, root, "../server.json", old)
	put(t, root, "../auth_token", "t")
	if got := ids(t, root); got != "" {
		t.Errorf("List has %s", got)
	}
	if contents(t, root, serverFile) != old || contents(t, root, tokenFile) != "t" {
		t.Error("List touched what names no instance")
	}
}

func TestListen(t *testing.T) {
	first, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if got := first.Addr().(*net.TCPAddr).IP.String(); got != "127.0.0.1" {
		t.Errorf("it listens on %s", got)
	}
	// Walk from a port that is taken; what else is taken behind it, others decide.
	port := portOf(first)
	seen := map[int]bool{port: true}
	outside := false
	for range portsTried + 2 {
		l, err := Listen(port)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if seen[portOf(l)] {
			t.Errorf("port %d twice", portOf(l))
		}
		seen[portOf(l)] = true
		outside = outside || portOf(l) < port || portOf(l) > port+portsTried
	}
	if !outside {
		t.Error("seven listeners within six ports")
	}
	for _, none := range []int{-1, 65536} {
		if _, err := Listen(none); err == nil || !strings.Contains(err.Error(), strconv.Itoa(none)) {
			t.Errorf("port %d: %v", none, err)
		}
	}
	last, err := Listen(65535)
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	beyond, err := Listen(65535)
	if err != nil {
		t.Fatal(err)
	}
	beyond.Close()
}

func TestDefaultRoot(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("PTYWRIGHT_HOME", "")
	elsewhere := filepath.Join(home, "elsewhere")
	for _, c := range []struct {
		env    string
		compat bool
		want   string
	}{
		{"", false, filepath.Join(home, ".ptywright")},
		{"", true, filepath.Join(home, ".unterm")},
		{elsewhere, false, elsewhere},
		{elsewhere, true, filepath.Join(home, ".unterm")},
	} {
		t.Setenv("PTYWRIGHT_HOME", c.env)
		if got, err := DefaultRoot(c.compat); got != c.want || err != nil {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
	}
}

func TestStartedAfter(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		after bool
	}{
		{"2026-05-03T11:42:08.137-07:00", "2026-05-03T11:42:08-07:00", true},
		{"2026-05-03T01:00:00+02:00", "2026-05-03T00:30:00+00:00", false}, // as text it would be
		{"2026-05-03T11:42:08.1+00:00", "2026-05-03T11:42:08.10+00:00", false},
		{"no time", "2026-05-03T11:42:08.10+00:00", true},
	} {
		if got := (Record{StartedAt: c.a}).startedAfter(Record{StartedAt: c.b}); got != c.after {
			t.Errorf("%s after %s: %v", c.a, c.b, got)
		}
	}
	if s := time.Now().UTC().Format(startedAtLayout); !strings.HasSuffix(s, "+00:00") {
		t.Errorf("UTC is written %s", s)
	}
}

// TestNoFormatPrintsTheToken, and nor does a log.
func TestNoFormatPrintsTheToken(t *testing.T) {
	var out bytes.Buffer
	r := Record{ID: "alpha", AuthToken: "SECRET"}
	fmt.Fprintf(&out, "%v %+v %#v %s %v %+v", r, r, r, r, &r, []Record{r})
	slog.New(slog.NewTextHandler(&out, nil)).Info("m", "r", r)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "r", r)
	if strings.Contains(out.String(), "SECRET") || strings.Count(out.String(), "alpha") != 8 {
		t.Errorf("it prints %s", out.String())
	}
}

func TestTokens(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		seen[NewToken()] = true
	}
	if len(seen) != 1000 {
		t.Error("a token came twice")
	}
}

func TestRecordRoundTrip(t *testing.T) {
	want := Record{"bravo", 1, 2, "t", 3, "s", "<\"title\">\n\u2028", "/c", "v", "linux", "9", "b"}
	b, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := parse(b); !ok || got != want {
		t.Error(cmp.Diff(want, got))
	}
	if !json.Valid(b) || !strings.HasPrefix(string(b), "{\n  \"id\": \"bravo\",\n") {
		t.Errorf("it is\n%s", b)
	}
}
