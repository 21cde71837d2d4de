package typescript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// long reports whether the long forms of tests are run.
func long() bool { return os.Getenv("PTYWRIGHT_LONG") != "" }

// TestSessions drives programs through all that the SDK has.
func TestSessions(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", "session.test.ts", "adapter.test.ts", "kit.ts")
	p.compile(t)
	p.test(t, nil, "session.test.js", "adapter.test.js")
}

// TestBadInput: whatever goes wrong is a typed error that says what to do, and nothing is left.
func TestBadInput(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", "bad.test.ts", "kit.ts")
	p.compile(t)
	p.test(t, nil, "bad.test.js")
}

// TestGoldens: golden screens are kept by the rule of every SDK, in node:test and in vitest.
func TestGoldens(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", "goldens.test.ts", "kit.ts")
	p.compile(t)
	source, err := os.ReadFile(filepath.Join("test", "goldens.vitest"))
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "vitest/goldens.test.ts", string(source))
	env := []string{"GOLDENS=" + abs(t, filepath.Join(root, "sdk", "goldens.json"))}
	t.Run("node", func(t *testing.T) { p.test(t, env, "goldens.test.js") })
	t.Run("vitest", func(t *testing.T) { p.vitest(t, env, "vitest/goldens.test.ts") })
}

// TestMany: 40 sessions on one pipe, 200 waits in flight, half of them cancelled.
func TestMany(t *testing.T) {
	t.Parallel()
	lanesOfLoad(t)
	p := newProject(t, "", "many.test.ts", "kit.ts")
	p.compile(t)
	p.test(t, nil, "--expose-gc", "many.test.js")
}

// TestInteract gives a terminal, itself a session, to a session.
func TestInteract(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", "interact.test.ts", "person.ts", "kit.ts")
	p.compile(t)
	p.test(t, nil, "interact.test.js")
}

// TestVectors: the vectors are judged as the server and the other SDKs judge them, by the generated
// types where types can tell and by a validator of the model otherwise.
func TestVectors(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", "vectors.test.ts")
	env := []string{"VECTORS=" + abs(t, filepath.Join(root, "sdk", "vectors.json")), "MODEL=" + abs(t, filepath.Join(root, "protocol", "model.json"))}
	env = append(env, "EVIDENCE="+abs(t, filepath.Join(root, "sdk", "evidence.json")))
	types, refused := typedVectors(t)
	p.write(t, "typed.ts", types)
	p.compile(t)
	p.test(t, env, "vectors.test.js")
	t.Logf("of the invalid vectors the compiler alone refuses %d", refused)
}

// TestWaitVectors: waits hold when sdk/waits.json says so.
func TestWaitVectors(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", "waits.test.ts", "kit.ts")
	p.compile(t)
	p.test(t, []string{"WAITS=" + abs(t, filepath.Join(root, "sdk", "waits.json"))}, "waits.test.js")
}

// notTyped are definitions that have no type in the SDK: envelopes, which it writes and reads
// itself.
func notTyped(def string) bool {
	for _, end := range []string{"Request", "Notification", "Error"} {
		if strings.HasSuffix(def, end) && def != "ReloadError" {
			return true
		}
	}
	return def == "Success" || def == "Failure"
}

// typed says that the compiler can tell why an invalid vector is one: a member that is missing, or
// has another type.
func typed(what string) bool {
	return strings.HasPrefix(what, "without ") || strings.HasSuffix(what, ": another type") || strings.HasSuffix(what, ": another constant") ||
		strings.HasSuffix(what, ": null") || strings.HasSuffix(what, ": an unknown word")
}

// typedVectors writes the vectors as TypeScript: valid ones are values of their type, and what the
// compiler can tell is none has to be refused by it.
func typedVectors(t *testing.T) (source string, refused int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "sdk", "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("import type { wire } from \"@ptywright/sdk\";\nfunction is<T>(_: T): void {}\n")
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := bytes.TrimSuffix(bytes.TrimSpace(lines.Bytes()), []byte(","))
		if len(line) < 2 {
			continue
		}
		var v struct {
			Def, Case string
			Valid     bool
			Value     json.RawMessage
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		switch {
		case notTyped(v.Def):
		case v.Valid:
			// The compiler refuses unknown members of literals, as the server does in strict mode.
			if !strings.Contains(v.Case, "unknown member") {
				fmt.Fprintf(&b, "is<wire.%s>(%s);\n", v.Def, v.Value)
			}
		case typed(v.Case):
			refused++
			fmt.Fprintf(&b, "// @ts-expect-error %s\nis<wire.%s>(%s);\n", v.Case, v.Def, v.Value)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String(), refused
}

func abs(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
