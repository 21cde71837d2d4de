//go:build unix

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const (
	// mostInit is what a package of ours may allocate before main, in bytes: a table or two. What
	// is more is made when it is needed.
	mostInit = 16 << 10
	// mostInits is what all of them may.
	mostInits = 96 << 10
)

// TestStartAllocatesLittle holds what every start pays for. Allocations are counted and not timed,
// so the test says the same on any machine.
func TestStartAllocatesLittle(t *testing.T) {
	t.Parallel()
	p := ptywright(t, "--version")
	p.Env = append(p.Env, "GODEBUG=inittrace=1")
	if _, code := p.Run(""); code != 0 {
		t.Fatalf("exit %d: %s", code, p.Stderr)
	}
	// https://pkg.go.dev/runtime#hdr-Environment_Variables
	line := regexp.MustCompile(`(?m)^init ` + regexp.QuoteMeta(module) + `/(\S+) @\S+ ms, \S+ ms clock, (\d+) bytes,`)
	found := line.FindAllStringSubmatch(p.Stderr.String(), -1)
	all, seen := 0, map[string]bool{}
	for _, m := range found {
		bytes, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		// What only tests import is in this binary, too, and so are the variables of this package's
		// tests.
		if _, ours := mayImport[m[1]]; !ours || m[1] == "cmd/ptywright" || strings.HasSuffix(m[1], "test") {
			continue
		}
		seen[m[1]] = true
		if all += bytes; bytes > mostInit {
			t.Errorf("package %s allocates %d bytes before main, more than %d: make what it needs when it needs it, "+
				"with sync.OnceValue or internal/lazy", m[1], bytes, mostInit)
		}
	}
	for _, name := range []string{"redact", "engine/vt", "protocol/native"} {
		if !seen[name] {
			t.Errorf("the trace does not tell about %s, so this test tells nothing:\n%.2000s", name, p.Stderr)
		}
	}
	if all > mostInits {
		t.Errorf("our packages allocate %d bytes before main, more than %d", all, mostInits)
	}
}

// TestExpressions holds that no regular expression is compiled at every start, and compiles those
// that are compiled when they are needed: a defect in one would show only then.
func TestExpressions(t *testing.T) {
	t.Parallel()
	lazies := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if n := d.Name(); err == nil && (n == "protocoltest" || n == "release" || n == "sdk") { // not in the program
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		constants := map[string]string{}
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, value := range v.Values {
					if text, ok := constantOf(value, constants); ok && gen.Tok == token.CONST {
						constants[v.Names[i].Name] = text
					}
					call, ok := value.(*ast.CallExpr)
					if !ok {
						continue
					}
					f, ok := call.Fun.(*ast.SelectorExpr)
					if !ok {
						continue
					}
					from, _ := f.X.(*ast.Ident)
					switch {
					case from == nil:
					case from.Name == "regexp" && strings.HasPrefix(f.Sel.Name, "MustCompile"):
						t.Errorf("%s: %s is compiled at every start: use lazy.Regexp", path, v.Names[i].Name)
					case from.Name == "lazy" && f.Sel.Name == "Regexp":
						lazies++
						text, ok := constantOf(call.Args[0], constants)
						if !ok {
							t.Errorf("%s: %s is made of more than constants of its file, so this test cannot compile it", path, v.Names[i].Name)
						} else if _, err := regexp.Compile(text); err != nil {
							t.Errorf("%s: %s: %v", path, v.Names[i].Name, err)
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lazies < 20 {
		t.Errorf("%d expressions were found, and there are more: this test looks in the wrong places", lazies)
	}
}

// constantOf returns the value of an expression of string literals and named constants.
func constantOf(e ast.Expr, constants map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		text, ok := constants[e.Name]
		return text, ok
	case *ast.BinaryExpr:
		left, ok := constantOf(e.X, constants)
		right, also := constantOf(e.Y, constants)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}
