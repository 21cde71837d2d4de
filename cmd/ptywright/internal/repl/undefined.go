package repl

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/internal/nearest"
)

// An undefinedError reports a variable that was never set.
type undefinedError struct {
	kind  string // variable or function: how it was used
	name  string
	names []string // the existing names
}

func (e *undefinedError) Error() string {
	text := "undefined " + e.kind + " " + quote(e.name)
	if near := nearest.Of(e.name, e.names); near != "" {
		text += ": did you mean " + near + "?"
	}
	return text
}

// Lua's errors for nil where a value is needed. They do not say what was nil.
var (
	nilIndexed = lazy.Regexp(`attempt to index a non-table object\(nil\) with key '((?s:.*?))'(?:\n|$)`)
	nilOperand = lazy.Regexp(`cannot perform \w+ operation between (?:nil and|\w+ and nil)|attempt to compare (?:nil with|\w+ with nil)`)
)

// undefined adds the name of what is nil to Lua's error: the first one in the error's line.
func (m *machine) undefined(source string, err error) error {
	if err == nil {
		return nil
	}
	indexed := nilIndexed().FindStringSubmatch(err.Error())
	if indexed == nil && !nilOperand().MatchString(err.Error()) {
		return err
	}
	tree := parsed(source)
	if tree == nil {
		return err
	}
	place := placed().FindStringSubmatch(err.Error())
	locals := localsOf(tree)
	var found error
	eachNode(reflect.ValueOf(tree), func(node any) {
		e, ok := node.(ast.Expr)
		if !ok || found != nil || place != nil && place[2] != strconv.Itoa(e.Line()) {
			return
		}
		for _, operand := range operands(e, indexed) {
			if found == nil {
				found = m.isNil(operand, locals)
			}
		}
	})
	switch {
	case found == nil:
		return err
	case place != nil && place[1] != chunk:
		return fmt.Errorf("%s:%s: %w", place[1], place[2], found)
	}
	return found
}

// operands are the parts of an expression that may be an error's nil: for an index, what was
// indexed with that key.
func operands(e ast.Expr, indexed []string) []ast.Expr {
	key := ""
	if indexed != nil {
		key = indexed[1]
	}
	switch e := e.(type) {
	case *ast.AttrGetExpr:
		if k, ok := e.Key.(*ast.StringExpr); indexed != nil && (!ok || k.Value == key) {
			return []ast.Expr{e.Object}
		}
	case *ast.FuncCallExpr:
		if indexed != nil && e.Receiver != nil && e.Method == key {
			return []ast.Expr{e.Receiver}
		}
	case *ast.ArithmeticOpExpr:
		if indexed == nil {
			return []ast.Expr{e.Lhs, e.Rhs}
		}
	case *ast.StringConcatOpExpr:
		if indexed == nil {
			return []ast.Expr{e.Lhs, e.Rhs}
		}
	case *ast.RelationalOpExpr:
		if indexed == nil {
			return []ast.Expr{e.Lhs, e.Rhs}
		}
	}
	return nil
}

// isNil returns an error that names an expression that is nil; nil when it is not, or when that is
// unknown. A local variable's value is gone by then, so the error says that it may be nil.
func (m *machine) isNil(e ast.Expr, locals map[string]bool) error {
	path := pathOf(e)
	switch {
	case path == nil:
		return nil
	case locals[path[0]]:
		return fmt.Errorf("%s is nil here", strings.Join(path, "."))
	}
	var value lua.LValue = m.G.Global
	for i, name := range path {
		t, ok := value.(*lua.LTable)
		if !ok {
			return nil
		}
		if value = t.RawGetString(name); value != lua.LNil {
			continue
		}
		switch {
		case i == 0 && len(path) == 1:
			return &undefinedError{"variable", name, namesOf(m.G.Global)}
		case i == 0:
			return nil // the outer index fails first, and is reported
		}
		return &unknownName{strings.Join(path[:i], "."), name, namesOf(t)}
	}
	return nil
}

// pathOf is a name, or dotted names; nil for any other expression.
func pathOf(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return []string{e.Value}
	case *ast.AttrGetExpr:
		of := pathOf(e.Object)
		if k, ok := e.Key.(*ast.StringExpr); ok && of != nil {
			return append(of, k.Value)
		}
	}
	return nil
}

// localsOf returns the names of all local variables and parameters of a chunk.
func localsOf(tree []ast.Stmt) map[string]bool {
	locals := map[string]bool{}
	eachNode(reflect.ValueOf(tree), func(node any) {
		var names []string
		switch n := node.(type) {
		case *ast.LocalAssignStmt:
			names = n.Names
		case *ast.ParList:
			names = n.Names
		case *ast.GenericForStmt:
			names = n.Names
		case *ast.NumberForStmt:
			names = []string{n.Name}
		}
		for _, name := range names {
			locals[name] = true
		}
	})
	return locals
}

// named adds a name to an error where Lua does not give it.
func (m *machine) named(source string, err error) error {
	return m.undefined(source, m.uncalled(source, err))
}
