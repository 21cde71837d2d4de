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

// An undefinedError is about a variable that was never set.
type undefinedError struct {
	kind  string // variable or function: what it was taken for
	name  string
	names []string // that there are
}

func (e *undefinedError) Error() string {
	text := "undefined " + e.kind + " " + quote(e.name)
	if near := nearest.Of(e.name, e.names); near != "" {
		text += ": did you mean " + near + "?"
	}
	return text
}

// What Lua says when it meets nil where a value is needed. It does not say what was nil.
var (
	nilIndexed = lazy.Regexp(`attempt to index a non-table object\(nil\) with key '((?s:.*?))'(?:\n|$)`)
	nilOperand = lazy.Regexp(`cannot perform \w+ operation between (?:nil and|\w+ and nil)|attempt to compare (?:nil with|\w+ with nil)`)
)

// undefined adds to Lua's error about nil the name of what is nil: the first in the line that the error tells.
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

// operands are the parts of an expression that may be the nil of an error: of one about an index, what was indexed with that key.
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

// isNil names an expression that is nil; nil when it is not, or when that is not known. What a local variable has is not known any
// more: of one it is said that it may be.
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
			return nil // the outer index fails first, and is told
		}
		return &unknownName{strings.Join(path[:i], "."), name, namesOf(t)}
	}
	return nil
}

// pathOf is a name, or names behind dots; nil for any other expression.
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

// localsOf are the names of all local variables and parameters of a chunk.
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

// named adds to an error of Lua's the name of what it is about, where Lua does not tell it.
func (m *machine) named(source string, err error) error {
	return m.undefined(source, m.uncalled(source, err))
}
