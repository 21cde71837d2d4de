package instance

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestAnyOrderOfEvents holds the folder against a model: who is alive, under which name, and who is
// active.
func TestAnyOrderOfEvents(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		var alive []*Instance // as they were started
		defer func() {
			var closed sync.WaitGroup
			for _, i := range alive {
				closed.Go(func() { i.Close() })
			}
			closed.Wait()
		}()
		named := make(map[*Instance]string)
		titles := make(map[*Instance]string)
		var active *Instance
		firstFree := func() string {
			for n := range names {
				free := true
				for _, taken := range named {
					free = free && taken != name(n)
				}
				if free {
					return name(n)
				}
			}
			return ""
		}
		some := func(t *rapid.T) *Instance {
			if len(alive) == 0 {
				t.Skip("nobody is alive")
			}
			return rapid.SampledFrom(alive).Draw(t, "instance")
		}
		t.Repeat(map[string]func(*rapid.T){
			"claim": func(t *rapid.T) {
				want := firstFree()
				i, err := Claim(root, wanted(1))
				if err != nil {
					t.Fatal(err)
				}
				if r, _ := i.now(); r.ID != want {
					t.Fatalf("it got %s, want %s", r.ID, want)
				}
				alive, named[i] = append(alive, i), want
				if active == nil {
					active = i
				}
			},
			"close": func(t *rapid.T) {
				i := some(t)
				if err := i.Close(); err != nil {
					t.Fatal(err)
				}
				alive = slices.DeleteFunc(alive, func(j *Instance) bool { return j == i })
				delete(named, i)
				delete(titles, i)
				if active == i {
					active = nil
					if len(alive) > 0 {
						active = alive[len(alive)-1]
					}
				}
			},
			"title": func(t *rapid.T) {
				i := some(t)
				titles[i] = rapid.StringN(0, 20, MaxTitle).Draw(t, "title")
				if err := i.SetTitle(titles[i]); err != nil {
					t.Fatal(err)
				}
			},
			"cwd": func(t *rapid.T) {
				if err := some(t).SetCwd(rapid.String().Draw(t, "cwd")); err != nil {
					t.Fatal(err)
				}
			},
			"somebody leaves a file": func(t *rapid.T) {
				content := rapid.SampledFrom([]string{`{"id":"alpha","pid":-1}`, `{"id":"kilo","pid":0}`}).Draw(t, "content")
				r, _ := parse([]byte(content))
				path := filepath.Join(root, "instances", r.ID+".json")
				if _, err := os.Lstat(path); err != nil {
					os.WriteFile(path, []byte(content), 0o600)
				}
			},
			"": func(t *rapid.T) {
				records, err := List(root)
				if err != nil || len(records) != len(alive) {
					t.Fatalf("List has %d, %v; want %d", len(records), err, len(alive))
				}
				for _, i := range alive {
					r, err := i.Record()
					if err != nil || r.ID != named[i] || string(r.Title) != titles[i] || !slices.Contains(records, r) {
						t.Fatalf("%s is %+v, %v", named[i], r.Entry(), err)
					}
				}
				a, err := Active(root)
				if active == nil {
					if err == nil {
						t.Fatalf("%s is active, and nobody is alive", a.ID)
					}
					return
				}
				if err != nil || a.ID != named[active] {
					t.Fatalf("%s is active, %v; want %s", a.ID, err, named[active])
				}
				mine, _ := active.now()
				token, err := os.ReadFile(filepath.Join(root, tokenFile))
				if err != nil || string(token) != mine.AuthToken || a.Cwd != mine.Cwd {
					t.Fatal("the pointers are not the active one's", err)
				}
			},
		})
	})
}
