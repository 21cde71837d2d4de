package repl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHolds(t *testing.T) {
	const secret = `hunter2 "q"`
	for entry, want := range map[string]bool{
		`s:send("hunter2 \"q\"\n")`: true, `p = 'hunter2 "q"'`: true, `p = [==[hunter2 "q"]==]`: true, `p = "\104unter2 \034q\""`: true,
		`p = "hunt"`: true, `p = "er2 \"q" .. x`: true, `s:sennd("hunter2`: true, `p = "xhunter2 \"q\"x"`: true, `hunter2 "q"`: true,
		`p = "hun"`: false, `hunter = 1`: false, `s:send("ls\n")`: false, `""`: false, `x = {"hund", 2}`: false,
	} {
		if got := holds(entry, secret); got != want {
			t.Errorf("%s: %v", entry, got)
		}
	}
	if !holds("s:send(4711)", "4711") || !holds(`s:send(4711 .. "0815\n")`, "47110815") || holds("x = 47", "4711") {
		t.Error("of numbers")
	}
}

func FuzzTexts(f *testing.F) {
	for _, seed := range []string{`"a\`, `'\99`, `[==[x]==`, `[[`, `[=`, `"\10010"1`, "12"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		for _, text := range texts(entry) {
			if len(text) > len(entry) {
				t.Errorf("%q is in %q", text, entry)
			}
		}
	})
}

func TestHistoryForgets(t *testing.T) {
	h := history{filepath.Join(t.TempDir(), "repl_history")}
	if err := h.forget([]string{"hunter2"}); err != nil { // there is none yet
		t.Fatal(err)
	}
	for _, entry := range []string{"one = 1", `p = "hunter2"`, "two = 2", `p = "\104unter2"`, "three = 3"} {
		if err := h.add(entry); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("\"cut off hunter2"); err != nil { // no entry, and no end
		t.Fatal(err)
	}
	f.Close()
	before, _ := os.Stat(h.path)
	if err := h.forget([]string{"nothing", "hunter2"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(h.path)
	if err != nil || strings.Contains(string(text), "unter2") || int64(len(text)) != before.Size() {
		t.Errorf("the file is %q, %v", text, err)
	}
	if all, err := h.load(); err != nil || !slices.Equal(all, []string{"one = 1", "two = 2", "three = 3"}) {
		t.Errorf("loaded is %q, %v", all, err)
	}
	if after, err := os.Stat(h.path); err != nil || !os.SameFile(before, after) || after.Mode().Perm() != 0o600 {
		t.Errorf("the file is another, or its mode: %v", after)
	}
}

// What is remembered is bounded, and so is what is asked for each line.
func TestKeeperIsBounded(t *testing.T) {
	var k keeper
	for i := range 1000 {
		k.use(&handle{kind: "session", id: strings.Repeat("s", i+1)})
		k.learn(strings.Repeat("x", i%10) + strings.Repeat("y", i))
	}
	k.learn(strings.Repeat("z", 1<<20))
	if len(k.hand) != maxHand || len(k.typed) > maxSecrets || len(k.typed[len(k.typed)-1]) != maxTyped {
		t.Errorf("%d in hand, %d typed", len(k.hand), len(k.typed))
	}
	k = keeper{}
	for _, s := range []string{"hunt", "hunter", "hunter2"} { // typed key by key
		k.learn(s)
	}
	if !slices.Equal(k.typed, []string{"hunter2"}) {
		t.Errorf("typed is %q", k.typed)
	}
}
