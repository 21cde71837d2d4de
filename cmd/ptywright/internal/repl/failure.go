package repl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/protocol/client"
)

// codeOf is the exit code of a script that ended with err.
func codeOf(err error) int {
	var unknown *unknownID
	switch e := wireError(err); {
	case err == nil:
		return 0
	case e != nil:
		return cli.ExitFor(string(e.Reason))
	case errors.As(cause(err), &unknown):
		return cli.ExitMissing
	}
	return cli.ExitError
}

// complain writes an error for people: what was being done, why it failed, and the evidence.
func (m *machine) complain(err error) string {
	err = asRaised(err)
	e := wireError(err)
	if e == nil {
		text := cause(err).Error()
		switch {
		case errors.Is(err, errInterrupted):
			text = "interrupted"
		case errors.Is(cause(err), client.ErrClosed):
			text += "\n:reconnect connects again, and starts a server when none listens"
		}
		return m.style.As(cli.Red, "error: ") + cli.Clean(strings.TrimSpace(text))
	}
	var b strings.Builder
	b.WriteString(m.style.As(cli.Red, "error: ") + cli.Clean(plainly(cause(err))))
	if !errors.Is(cause(err), errInterrupted) {
		b.WriteString(m.style.As(cli.Dim, " ["+cli.OneLine(string(e.Reason))+"]")) // for scripts to look up
	}
	if v := e.Evidence(); v != nil {
		if len(v.Matcher) > 0 {
			var node lacking
			if json.Unmarshal(v.Matcher, &node) == nil && node.Type != "" {
				m.lacks(&b, node, 1)
			}
		}
		if v.Screen.Size.Rows > 0 {
			b.WriteString("\n" + m.style.As(cli.Dim, fmt.Sprintf("  after %d ms, quiet for %d ms, sequence %d", v.Elapsed.Milliseconds(), v.Quiet.Milliseconds(), v.Sequence)))
		}
	}
	if s := evidenceScreen(e); s != nil {
		b.WriteString("\n" + s.show(m.style, m.cols()))
	}
	return b.String()
}

// plainly is an error without the codes of the wire. The server's answer to an interrupted request
// is not shown.
func plainly(err error) string {
	var e *client.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if method, _, ok := strings.Cut(err.Error(), ": "); ok && errors.Is(err, errInterrupted) {
		return method + ": interrupted"
	}
	return strings.Replace(err.Error(), e.Error(), e.Message, 1)
}

// asRaised returns the text of an error that Lua code raised or passed on.
func asRaised(err error) error {
	var api *lua.ApiError
	if !errors.As(err, &api) || api.Object == nil || cause(err) != err {
		return err
	}
	text := api.Object.String()
	if t, ok := api.Object.(*lua.LTable); ok {
		text = "a table was raised as an error: " + t.String()
	}
	return errors.New(strings.TrimPrefix(strings.TrimPrefix(text, chunk+":"), "1: ")) // most chunks are one line
}

// notAFunction is Lua's error for calling something that is not a function; it does not say what
// was called.
const notAFunction = "attempt to call a non-function object"

// uncalled adds the called name to Lua's error about a call: of the first such call in the error's
// line.
func (m *machine) uncalled(source string, err error) error {
	if err == nil || !strings.Contains(err.Error(), notAFunction) {
		return err
	}
	tree := parsed(source)
	if tree == nil {
		return err
	}
	place := placed().FindStringSubmatch(err.Error())
	var sure, perhaps error
	eachNode(reflect.ValueOf(tree), func(node any) {
		c, ok := node.(*ast.FuncCallExpr)
		if !ok || place != nil && place[2] != strconv.Itoa(c.Line()) {
			return
		}
		missing, certain := m.missing(c.Func)
		switch {
		case missing == nil:
		case certain && sure == nil:
			sure = missing
		case perhaps == nil:
			perhaps = missing
		}
	})
	if sure = cmp.Or(sure, perhaps); sure == nil {
		return err
	}
	if place != nil && place[1] != chunk {
		return fmt.Errorf("%s:%s: %w", place[1], place[2], sure)
	}
	return sure
}

// placed matches the place of an error in Lua's message.
var placed = lazy.Regexp(`^(.+?):(\d+): `)

// missing returns an error if a called name is not defined, nil if it is. The value of a local
// variable is unknown: then the result is not certain.
func (m *machine) missing(called ast.Expr) (name error, certain bool) {
	switch f := called.(type) {
	case *ast.IdentExpr:
		if m.GetGlobal(f.Value) == lua.LNil {
			return &undefinedError{"function", f.Value, namesOf(m.G.Global)}, true
		}
	case *ast.AttrGetExpr:
		of, ok := f.Object.(*ast.IdentExpr)
		key, named := f.Key.(*ast.StringExpr)
		if !ok || !named {
			return nil, false
		}
		t, known := m.GetGlobal(of.Value).(*lua.LTable)
		if !known {
			return &unknownName{of.Value, key.Value, nil}, false
		}
		if t.RawGetString(key.Value) == lua.LNil {
			return &unknownName{of.Value, key.Value, namesOf(t)}, true
		}
	}
	return nil, false
}

// namesOf returns the names in a table, sorted.
func namesOf(t *lua.LTable) (names []string) {
	t.ForEach(func(name, _ lua.LValue) { names = append(names, name.String()) })
	slices.Sort(names)
	return names
}

// parsed is the syntax tree of a chunk, which may be an expression; nil if it does not parse.
func parsed(source string) []ast.Stmt {
	tree, err := parse.Parse(strings.NewReader(source), chunk)
	if err != nil {
		tree, _ = parse.Parse(strings.NewReader("return "+source), chunk)
	}
	return tree
}

// eachNode visits the statements and expressions of a syntax tree, whose depth the parser has
// bounded, outer before inner.
func eachNode(v reflect.Value, visit func(node any)) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			eachNode(v.Index(i), visit)
		}
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Pointer {
			visit(v.Interface())
		}
		eachNode(v.Elem(), visit)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachNode(v.Field(i), visit)
			}
		}
	}
}

// lacking is a matcher and what it lacked.
type lacking struct {
	Type    string          `json:"type"`
	Value   json.RawMessage `json:"value"`
	Held    bool            `json:"held"`
	Why     string          `json:"why"`
	Nearest json.RawMessage `json:"nearest"`
}

// lacks writes a matcher's tree, one line per node.
func (m *machine) lacks(b *strings.Builder, n lacking, depth int) {
	mark := m.style.As(cli.Red, "no ")
	if n.Held {
		mark = m.style.As(cli.Green, "yes")
	}
	var inner []lacking
	var one lacking
	what := n.Type
	switch {
	case json.Unmarshal(n.Value, &inner) == nil && len(inner) > 0 && inner[0].Type != "":
	case json.Unmarshal(n.Value, &one) == nil && one.Type != "":
		inner = []lacking{one}
	case len(n.Value) > 0 && string(n.Value) != "null":
		what += " " + string(n.Value)
	}
	fmt.Fprintf(b, "\n%s%s %s", strings.Repeat("  ", depth), mark, cli.OneLine(what))
	if n.Why != "" {
		b.WriteString(m.style.As(cli.Dim, ": ") + cli.OneLine(n.Why))
	}
	if len(n.Nearest) > 0 && string(n.Nearest) != "null" {
		fmt.Fprintf(b, "\n%s    %s %s", strings.Repeat("  ", depth), m.style.As(cli.Dim, "nearest"), cli.OneLine(string(n.Nearest)))
	}
	for _, i := range inner {
		m.lacks(b, i, depth+1)
	}
}

// show is how a failure caught by Lua code is printed.
func (f *failure) show(on cli.Style, cols int) string {
	m := &machine{style: on, cols: func() int { return cols }}
	return m.complain(f.err)
}

// errInterrupted ends the running evaluation at the user's request.
var errInterrupted = fmt.Errorf("interrupted: %w", context.Canceled)
