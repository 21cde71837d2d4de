package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"github.com/ptywright/ptywright/protocol/unterm/internal/shared"
)

func file(t *testing.T, s *Store) string {
	t.Helper()
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func put(t *testing.T, s *Store, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.path), 0o700), os.WriteFile(s.path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestACorruptFileIsKept: the defaults are in force and said to be, and the first change sets it
// aside.
func TestACorruptFileIsKept(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "cut": `{"enabled":tr`, "a list": "[]", "null": "null", "a wrong type": `{"enabled":"yes"}`, "a node without a URL": `{"nodes":[{"name":"x"}]}`,
		"a node that is none": `{"nodes":[7]}`, "too large": `{"enabled":true,"x":"` + strings.Repeat("x", fileMax) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			put(t, s, text)
			st, err := s.Status(t.Context())
			problem := st.Problem
			if st.Problem = ""; !strings.HasPrefix(problem, s.path+" cannot be used, the defaults are: ") {
				t.Errorf("problem %q", problem)
			}
			is(t, "status", st, err, nothing)
			if n := s.Nodes(); len(n.Nodes) != 0 || n.Problem != problem {
				t.Errorf("nodes %+v", n)
			}
			if file(t, s) != text {
				t.Error("reading has changed the file")
			}
			if _, err := s.Switch("x"); err == nil {
				t.Error("switched to nothing")
			}
			if file(t, s) != text {
				t.Error("what did not succeed has changed the file")
			}
			if c := configure(t, s, `{}`); c.Status.Problem != "" {
				t.Errorf("afterwards: %q", c.Status.Problem)
			}
			if bad, err := os.ReadFile(s.path + ".bad"); err != nil || string(bad) != text {
				t.Errorf("set aside: %d bytes, %v", len(bad), err)
			}
			for i := range 2 * shared.AsideMost { // again and again: each is kept, and they do not fill the disk
				put(t, s, fmt.Sprint("broken ", i))
				configure(t, s, `{}`)
			}
			if all, err := filepath.Glob(s.path + ".bad*"); err != nil || len(all) != shared.AsideMost {
				t.Errorf("set aside: %v, %v", all, err)
			}
			if bad, err := os.ReadFile(s.path + ".bad"); err != nil || string(bad) != text {
				t.Errorf("the first is gone: %d bytes, %v", len(bad), err)
			}
		})
	}
}

// TestTheFile: only its owner reads it, what others keep in it stays, and what is not a file is not
// waited for.
func TestTheFile(t *testing.T) {
	s := newStore(t)
	put(t, s, `{"mode":"manual","future":{"a":[1,  2]},"no_proxy":null,"http_proxy":"","nodes":[{"name":"n","url":"http://h:1/?a&b","color":"red"}],"<":1}`)
	if err := os.Chmod(s.path, 0o644); err != nil {
		t.Fatal(err)
	}
	configure(t, s, `{"current_node":"n"}`)
	var got map[string]any
	if err := json.Unmarshal([]byte(file(t, s)), &got); err != nil {
		t.Fatalf("%v: %s", err, file(t, s))
	}
	want := map[string]any{"enabled": true, "mode": "manual", "http_proxy": "http://h:1/?a&b", "socks_proxy": nil, "no_proxy": noProxy, "current_node": "n",
		"nodes": []any{map[string]any{"name": "n", "url": "http://h:1/?a&b", "latency_ms": nil, "available": true}}, "future": map[string]any{"a": []any{1., 2.}}, "<": 1.}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if text := file(t, s); !strings.HasPrefix(text, "{\n  \"enabled\": true,\n  \"mode\"") || !strings.Contains(text, "/?a&b") {
		t.Errorf("%s", text)
	}
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if all, err := os.ReadDir(filepath.Dir(s.path)); err != nil || len(all) != 2 {
		t.Errorf("beside it: %v, %v", all, err)
	}

	if err := errors.Join(os.Remove(s.path), os.Mkdir(s.path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if st, err := s.Status(t.Context()); err != nil || !strings.Contains(st.Problem, "not a file") {
		t.Errorf("a folder: %+v, %v", st, err)
	}
	configure(t, s, `{}`)
	if info, err := os.Stat(s.path + ".bad"); err != nil || !info.IsDir() {
		t.Errorf("a folder was not set aside: %v", err)
	}
}

// TestNobodyUndoesOthers: many change one file at the same time, as goroutines and as stores of
// their own, as other processes have.
func TestNobodyUndoesOthers(t *testing.T) {
	s := newStore(t)
	const writers, each = 8, 10
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() { // sees a whole file at every moment
		for {
			select {
			case <-stop:
				return
			default:
				if n := s.Nodes(); n.Problem != "" {
					t.Error(n.Problem)
					return
				}
			}
		}
	})
	for w := range writers {
		mine := s
		if w%2 == 1 {
			mine = New(s.path)
		}
		wg.Go(func() {
			for i := range each {
				_, err := mine.update(func(c *settings) error {
					c.Nodes = append(c.Nodes, Node{Name: fmt.Sprint(w, "-", i), URL: "http://h:1"})
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	if n := len(s.Nodes().Nodes); n != writers*each {
		t.Errorf("%d nodes, want %d", n, writers*each)
	}
}

// TestALockThatIsHeld is waited for, and not for ever; reading needs none.
func TestALockThatIsHeld(t *testing.T) {
	s := newStore(t)
	configure(t, s, `{}`)
	l := flock.New(s.path + ".lock")
	if err := l.Lock(); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s.patience = 20 * time.Millisecond
	for range 3 { // of which the first waits in the kernel, and the others for it
		if _, err := s.Disable(); !errors.Is(err, shared.ErrLocked) || !strings.Contains(err.Error(), s.path+".lock for more than 20ms") {
			t.Errorf("%v", err)
		}
	}
	if n := s.Nodes(); n.Problem != "" {
		t.Error(n.Problem)
	}
	s.patience = time.Minute
	done := make(chan error, 1)
	go func() {
		_, err := s.Disable()
		done <- err
	}()
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("when it is free: %v", err)
	}
}

// FuzzFile: whatever the file says, it is used or it is not; what is used comes back the same, and
// no password of it is shown.
func FuzzFile(f *testing.F) {
	for _, s := range []string{
		`{}`, nothing, `{"enabled":true,"mode":"auto","nodes":[{"name":"a","url":"http://u:pw@h:1","latency_ms":3,"available":false}],"x":[1]}`,
		`{"enabled":true,"http_proxy":"http://u:p@h:1"}`, "[]", "", `{"nodes":null,"current_node":"\u0000"}`, `{"mode":"\ud800","":0,"a":1,"a":2}`, `{"http_proxy":"\n"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decode(data)
		if err != nil {
			if d := cmp.Diff(defaults(), c, cmp.AllowUnexported(settings{})); d != "" {
				t.Fatal(d)
			}
			return
		}
		text, err := c.encode()
		if err != nil {
			return // too large
		}
		again, err := decode(text)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		compact := cmp.Transformer("compact", func(m json.RawMessage) any {
			var v any
			_ = json.Unmarshal(m, &v)
			return v
		})
		if d := cmp.Diff(c, again, cmp.AllowUnexported(settings{}), compact); d != "" {
			t.Fatalf("%s\n%s", d, text)
		}
		for name, value := range c.environ() {
			if !c.Enabled || !plain(value) || name == "" {
				t.Fatalf("%s=%q of %s", name, value, text)
			}
		}
		for _, n := range c.Nodes {
			if user, password, ok := strings.Cut(n.URL, ":secret@"); ok && strings.Contains(hide(n.URL), "secret@") {
				t.Fatalf("%q %q: %q", user, password, hide(n.URL))
			}
			if hide(hide(n.URL)) != hide(n.URL) {
				t.Fatalf("%q is shown as %q and %q", n.URL, hide(n.URL), hide(hide(n.URL)))
			}
			address(n.URL)
		}
	})
}
