package plugins

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/ptywright/ptywright/internal/sandbox"
)

// A Mention is something that a plugin's Lua names, and where.
type Mention struct {
	Name   string
	State  string // of a rule
	Module string // the file without its extension; one of the host's when not the plugin's own
	Line   int    // from 1
}

// An Outline is what can be known of a plugin's Lua without running it: the names in its source. It
// does not cover names built at run time. Each list is ordered by file name and line.
type Outline struct {
	Actions    []Mention // by kind: of ptywright.action, or a table with such a type
	Rules      []Mention // tables with name, state and needs
	States     []Mention // other tables' member state
	Entries    []Mention // other tables' member name, as describe's lists have
	Defined    []Mention // functions by the last part of their name
	Predicates []Mention // given to ptywright.matcher.predicate
	Waits      []Mention // other matchers by kind
	Requires   []Mention // modules
	Rechecks   []Recheck // numbers given for recheck_ms
}

// A Recheck is a number given for recheck_ms.
type Recheck struct {
	MS string // as written
	Mention
}

// Outline reads the plugin's files, and what they require from the host. A file that is not Lua
// contributes nothing: loading the plugin reports why.
func (s *Source) Outline() *Outline {
	modules := s.modules()
	o := &Outline{}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		r := outliner{Outline: o, module: name, aliases: map[string]string{}}
		if stmts := parsed(modules[name]); stmts != nil {
			r.walk(reflect.ValueOf(stmts))
		}
	}
	return o
}

// parsed is the syntax tree of a file, nil when it has none.
func parsed(text string) (tree []ast.Stmt) {
	defer func() {
		if recover() != nil {
			tree = nil
		}
	}()
	if sandbox.TooDeep(text) > 0 {
		return nil
	}
	tree, err := parse.Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	return tree
}

// An outliner reads one file.
type outliner struct {
	*Outline
	module  string
	aliases map[string]string // of a local: "action" if it stands for ptywright.action
}

func (r *outliner) at(name string, line int) Mention {
	return Mention{Name: name, Module: r.module, Line: line}
}

// walk visits every node below v in order. The tree's depth is bounded by [parsed].
func (r *outliner) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			r.walk(v.Index(i))
		}
	case reflect.Interface:
		if !v.IsNil() {
			r.walk(v.Elem())
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		r.visit(v.Interface())
		r.walk(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.walk(v.Field(i))
			}
		}
	}
}

func (r *outliner) visit(node any) {
	switch n := node.(type) {
	case *ast.LocalAssignStmt:
		for i, e := range n.Exprs {
			if i >= len(n.Names) {
				break
			}
			if part := r.part(e); part != "" {
				r.aliases[n.Names[i]] = part
			}
			if _, ok := e.(*ast.FunctionExpr); ok {
				r.Defined = append(r.Defined, r.at(n.Names[i], n.Line()))
			}
		}
	case *ast.AssignStmt:
		for i, e := range n.Rhs {
			if i < len(n.Lhs) {
				if name := last(n.Lhs[i]); name != "" && !isConstant(e) {
					r.Defined = append(r.Defined, r.at(name, n.Line()))
				}
			}
		}
	case *ast.FuncDefStmt:
		name := n.Name.Method
		if name == "" {
			name = last(n.Name.Func)
		}
		r.Defined = append(r.Defined, r.at(name, n.Line()))
	case *ast.FuncCallExpr:
		r.call(n)
	case *ast.TableExpr:
		r.table(n)
	}
}

// part is "action" for an expression that means ptywright.action, and "matcher" likewise.
func (r *outliner) part(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.IdentExpr:
		return r.aliases[x.Value]
	case *ast.AttrGetExpr:
		if base, ok := x.Object.(*ast.IdentExpr); ok && base.Value == libraryModule {
			if key := constant(x.Key); key == "action" || key == "matcher" {
				return key
			}
		}
	}
	return ""
}

func (r *outliner) call(c *ast.FuncCallExpr) {
	if f, ok := c.Func.(*ast.IdentExpr); ok && f.Value == "require" && len(c.Args) > 0 {
		if name := constant(c.Args[0]); name != "" {
			r.Requires = append(r.Requires, r.at(name, c.Line()))
		}
		return
	}
	f, ok := c.Func.(*ast.AttrGetExpr)
	if !ok {
		return
	}
	name := constant(f.Key)
	switch r.part(f.Object) {
	case "action":
		r.Actions = append(r.Actions, r.at(name, c.Line()))
	case "matcher":
		if name == "predicate" && len(c.Args) > 0 {
			r.Predicates = append(r.Predicates, r.at(constant(c.Args[0]), c.Line()))
			return
		}
		r.Waits = append(r.Waits, r.at(name, c.Line()))
	}
}

func (r *outliner) table(t *ast.TableExpr) {
	members := map[string]ast.Expr{}
	for _, f := range t.Fields {
		key := ""
		if f.Key != nil {
			key = constant(f.Key)
		}
		if key == "" {
			continue
		}
		members[key] = f.Value
		if !isConstant(f.Value) {
			r.Defined = append(r.Defined, r.at(key, lineOfExpr(f.Value, t)))
		}
	}
	line := func(key string) int { return lineOfExpr(members[key], t) }
	name, state := constant(members["name"]), constant(members["state"])
	switch {
	case name != "" && members["needs"] != nil:
		m := r.at(name, line("name"))
		m.State = state
		r.Rules = append(r.Rules, m)
	case name != "":
		r.Entries = append(r.Entries, r.at(name, line("name")))
	case state != "":
		r.States = append(r.States, r.at(state, line("state")))
	}
	if kind := constant(members["type"]); kind != "" {
		if _, ok := actionPermissions[kind]; ok {
			r.Actions = append(r.Actions, r.at(kind, line("type")))
		}
	}
	if n, ok := members["recheck_ms"].(*ast.NumberExpr); ok {
		r.Rechecks = append(r.Rechecks, Recheck{n.Value, r.at("recheck_ms", line("recheck_ms"))})
	}
}

// lineOfExpr is the line of an expression, or of the one around it: the parser does not give every
// node a line.
func lineOfExpr(e ast.Expr, in ast.Expr) int {
	if e != nil && e.Line() > 0 {
		return e.Line()
	}
	return in.Line()
}

// constant is the value of a string literal, "" for anything else.
func constant(e ast.Expr) string {
	if s, ok := e.(*ast.StringExpr); ok {
		return s.Value
	}
	return ""
}

func isConstant(e ast.Expr) bool {
	_, ok := e.(ast.ConstExpr)
	return ok
}

// last is the last part of a name such as plugin.classify.
func last(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.IdentExpr:
		return x.Value
	case *ast.AttrGetExpr:
		return constant(x.Key)
	}
	return ""
}

// ActionPermission returns the permission that an action needs, "" when there is no such action.
func ActionPermission(kind string) Permission { return actionPermissions[kind] }
