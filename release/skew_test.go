package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// An era is one version of the wire: its model and its vectors.
type era struct {
	Defs       map[string]json.RawMessage `json:"$defs"`
	vectors    []vector
	validators map[string]*jsonschema.Resolved
}

// A vector is a line of vectors.json.
type vector struct {
	Def   string `json:"def"`
	Case  string `json:"case"`
	Valid bool   `json:"valid"`
	Value any    `json:"value"`
}

// eraOf reads a version of the wire from the files that keep wrote, or from the sources.
func eraOf(t *testing.T, read func(name string) ([]byte, error)) *era {
	t.Helper()
	e := &era{validators: map[string]*jsonschema.Resolved{}}
	for name, to := range map[string]any{"protocol/model.json": e, "sdk/vectors.json": &e.vectors} {
		body, err := read(name)
		if err == nil {
			err = json.Unmarshal(body, to)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return e
}

// now is the version in the sources.
func now(t *testing.T) *era {
	return eraOf(t, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(root, filepath.FromSlash(name))) })
}

var ref = regexp.MustCompile(`"#/\$defs/(\w+)"`)

// judge holds a value against a definition. The error is errUnknown when the era does not have it.
func (e *era) judge(def string, value any) error {
	v := e.validators[def]
	if v == nil {
		s := &jsonschema.Schema{Ref: "#/$defs/" + def, Defs: map[string]*jsonschema.Schema{}}
		for todo := []string{def}; len(todo) > 0; todo = todo[1:] {
			text, ok := e.Defs[todo[0]]
			if !ok {
				return errUnknown
			}
			if s.Defs[todo[0]] != nil {
				continue
			}
			d := &jsonschema.Schema{}
			if err := json.Unmarshal(text, d); err != nil {
				return err
			}
			s.Defs[todo[0]] = d
			for _, m := range ref.FindAllSubmatch(text, -1) {
				todo = append(todo, string(m[1]))
			}
		}
		var err error
		if v, err = s.Resolve(nil); err != nil {
			return err
		}
		e.validators[def] = v
	}
	return v.Validate(value)
}

var errUnknown = errors.New("there is no such definition")

// sent reports whether clients send a definition; servers send all others.
func sent(def string) bool {
	return strings.HasSuffix(def, "Params") || strings.HasSuffix(def, "Action") || strings.HasSuffix(def, "Matcher") || def == "Redaction"
}

// newArm is a vector of a union whose branch an era does not know: servers send it only to whoever
// asked for what is new.
func (e *era) newArm(v vector) bool {
	name, ok := strings.CutPrefix(v.Case, "one of: ")
	return ok && e.Defs[name] == nil && regexp.MustCompile(`^[A-Z]\w*$`).MatchString(name)
}

// clashes says where two versions of the wire do not understand each other: what the older's clients
// send and the newer's server refuses, and what the newer's server sends and the older's clients do
// not understand.
func clashes(older, newer *era) (all []string) {
	for _, v := range older.vectors {
		if err := newer.judge(v.Def, v.Value); v.Valid && sent(v.Def) && err != nil {
			all = append(all, fmt.Sprintf("a client of the older version sends %s (%s), and the server refuses it: %v", v.Def, v.Case, err))
		}
	}
	for _, v := range newer.vectors {
		if !v.Valid || sent(v.Def) || older.Defs[v.Def] == nil || older.newArm(v) {
			continue
		}
		if err := older.judge(v.Def, v.Value); err != nil {
			all = append(all, fmt.Sprintf("the server sends %s (%s), and a client of the older version does not understand it: %v", v.Def, v.Case, err))
		}
	}
	return all
}

// kept are the archives of earlier releases: the sources' own, which is none before the first
// release.
func kept(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(root, last, "*.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// opened writes what keep packed below a new folder, which it returns.
func opened(t *testing.T, archive string) string {
	t.Helper()
	body, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, _ := untar(t, body)
	for _, f := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(f.name)), string(f.body))
	}
	return dir
}

// TestLastReleaseAndThisOne understand each other: the vectors of the one are valid in the other, the
// SDKs of the last release drive this server, and where git has its tag, these SDKs drive its server.
// Before there is a release, an archive of these very sources proves that the way works.
func TestLastReleaseAndThisOne(t *testing.T) {
	archives := kept(t)
	dir := t.TempDir()
	r := of(t, t.TempDir())
	if err := r.keep(dir); err != nil {
		t.Fatal(err)
	}
	if err := r.keep(dir); err != nil { // what is there is replaced
		t.Fatal(err)
	}
	archives = append(archives, filepath.Join(dir, version+".tar.gz"))
	binary := filepath.Join(unpack(t, filepath.Join(released(t), archiveName())), strings.TrimSuffix(archiveName(), ".tar.gz"), "ptywright")
	for _, archive := range archives {
		tag := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
		t.Run(tag, func(t *testing.T) {
			dir := opened(t, archive)
			then := eraOf(t, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))) })
			for _, c := range clashes(then, now(t)) {
				t.Error(c)
			}
			drive(t, dir, binary)
			if err := exec.Command("git", "-C", root, "rev-parse", "--quiet", "--verify", "refs/tags/"+tag).Run(); err != nil {
				t.Logf("git does not have the tag %s: these SDKs are not tried with its server", tag)
				return
			}
			drive(t, root, serverOf(t, tag))
		})
	}
}

// drive runs the first lines of each SDK below a folder with a server.
func drive(t *testing.T, dir, binary string) {
	t.Helper()
	env := []string{"PTYWRIGHT_BIN=" + binary}
	if src := filepath.Join(dir, "sdk/python/src"); exists(src) {
		need(t, "python3", "python3")
		script := filepath.Join(t.TempDir(), "first.py")
		write(t, script, first(t, "python.md", "python"))
		if said := run(t, t.TempDir(), append(env, "PYTHONPATH="+src), "python3", script); !strings.Contains(said, evidence) {
			t.Errorf("Python: the first lines print %q", said)
		}
	}
	sdk := filepath.Join(dir, "sdk/typescript")
	if dir == root {
		sdk = typescript(t)
	}
	if exists(filepath.Join(sdk, "dist")) {
		need(t, "node", "nodejs")
		at := t.TempDir()
		modules := filepath.Join(at, "node_modules/@ptywright")
		if err := os.MkdirAll(modules, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(sdk, filepath.Join(modules, "sdk")); err != nil {
			t.Fatal(err)
		}
		script := filepath.Join(at, "first.mjs")
		write(t, script, plainJavaScript(t, first(t, "typescript.md", "ts", "typescript", "js", "javascript")))
		if said := run(t, at, env, "node", "--preserve-symlinks", script); !strings.Contains(said, evidence) {
			t.Errorf("TypeScript: the first lines print %q", said)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// serverOf builds the binary of a tag.
func serverOf(t *testing.T, tag string) string {
	t.Helper()
	dir := t.TempDir()
	run(t, root, nil, "sh", "-c", `git archive "$1" | tar -x -C "$2"`, "sh", tag, dir)
	binary := filepath.Join(t.TempDir(), "ptywright")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, []string{"HOME=" + home}, "go", "build", "-buildvcs=false", "-o", binary, "./cmd/ptywright")
	return binary
}

// TestSkewIsFound: an earlier release that lacks a member gets on with this one; one that needs what
// is gone, or sends what is refused now, does not, and it is told what.
func TestSkewIsFound(t *testing.T) {
	change := func(def string, edit func(schema map[string]any)) *era {
		e := now(t)
		var s map[string]any
		if err := json.Unmarshal(e.Defs[def], &s); err != nil {
			t.Fatal(err)
		}
		edit(s)
		body, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		e.Defs[def] = body
		return e
	}
	properties := func(s map[string]any) map[string]any { return s["properties"].(map[string]any) }
	without := func(e *era, def, member string) *era {
		e.vectors = slices.DeleteFunc(e.vectors, func(v vector) bool {
			o, _ := v.Value.(map[string]any)
			return v.Def == def && (o == nil || o[member] != nil)
		})
		return e
	}
	for _, c := range []struct {
		name  string
		older *era
		want  string // "": they get on
	}{
		{"the same", now(t), ""},
		{"a member of params less", without(change("SessionWaitParams", func(s map[string]any) { delete(properties(s), "cells") }), "SessionWaitParams", "cells"), ""},
		{"a member of a result less", change("Matched", func(s map[string]any) { delete(properties(s), "forgotten") }), ""},
		{"a member of a result that is gone", change("Matched", func(s map[string]any) {
			properties(s)["old"] = map[string]any{"type": "string"}
			s["required"] = append(s["required"].([]any), "old")
		}), "the server sends Matched"},
		{"a member of a result of another type", change("Matched", func(s map[string]any) { properties(s)["sequence"] = map[string]any{"type": "string"} }), "the server sends Matched"},
		{"a method that is gone", func() *era {
			e := now(t)
			e.Defs["OldParams"] = json.RawMessage(`{"type": "object"}`)
			e.vectors = append(e.vectors, vector{"OldParams", "the least", true, map[string]any{}})
			return e
		}(), "a client of the older version sends OldParams"},
	} {
		found := clashes(c.older, now(t))
		if text := strings.Join(found, "\n"); (len(found) == 0) != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d clashes: %.2000s", c.name, len(found), text)
		}
	}
}

// fakeProtocol makes this test's binary a server of another version of the wire.
const fakeProtocol = "PTYWRIGHT_TEST_PROTOCOL"

// fakeServer answers every request as a server of that version answers server.capabilities.
func fakeServer(protocol string) int {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(in.Bytes(), &r) == nil && r.ID != nil {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocol":%s,"methods":[],"version":"v9.0.0"}}`+"\n", r.ID, protocol)
		}
	}
	return 0
}

// TestAnotherProtocolIsRefused by each SDK, plainly: with both versions and what to update.
func TestAnotherProtocolIsRefused(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said := refusals(t, []string{"PTYWRIGHT_BIN=" + self, fakeProtocol + "=2"})
	for _, sdk := range slices.Sorted(maps.Keys(said)) {
		text := said[sdk]
		if !strings.Contains(text, "ProtocolError") || !strings.Contains(text, "2") || !strings.Contains(text, "1") || !strings.Contains(text, "update") {
			t.Errorf("%s: %s", sdk, text)
		}
	}
}

// refusals are what the SDKs of these sources print when they meet a server.
func refusals(t *testing.T, env []string) map[string]string {
	said := map[string]string{}
	need(t, "python3", "python3")
	said["Python"] = run(t, t.TempDir(), append(env, "PYTHONPATH="+filepath.Join(root, "sdk/python/src")), "python3", "-c",
		"import ptywright\ntry:\n  ptywright.start()\nexcept ptywright.ProtocolError as e:\n  print(type(e).__name__, e)")
	if sdk := typescript(t); sdk != "" {
		need(t, "node", "nodejs")
		said["TypeScript"] = run(t, t.TempDir(), env, "node", "--input-type=module", "-e",
			"import * as p from '"+filepath.Join(sdk, "dist/index.js")+"'\ntry { await p.start() } catch (e) { console.log(e.constructor.name, e.message) }")
	}
	return said
}
