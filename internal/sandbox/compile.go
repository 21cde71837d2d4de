package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/ptywright/ptywright/internal/lazy"
)

func init() {
	// The old `arg` table of a vararg function would always be made, from up to 64,000 values. This
	// is a variable of the interpreter's package, so it applies to the whole process.
	lua.CompatVarArg = false
}

// maxNesting bounds nested brackets and blocks, and operators in a chain. The parser is quadratic
// in the first (1.5 s for 32,000 parentheses) and the compiler in the second (20 s for x+x+x...).
// Code that people read stays below 20.
const maxNesting = 150

var moduleName = lazy.Regexp(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// compile compiles a module, with everything that grows values replaced by calls that pay for it.
func compile(name, source string) (proto *lua.FunctionProto, err *Error) {
	if len(name) > 64 || !moduleName().MatchString(name) {
		return nil, &Error{Kind: Syntax,
			Message: fmt.Sprintf("module name %.32q is not letters, digits, '_' and '-' in parts joined by dots", name)}
	}
	bad := func(line int, format string, args ...any) *Error {
		return &Error{Kind: Syntax, Module: name, Line: line,
			Message: clip(fmt.Sprintf(format, args...))}
	}
	if len(source) > MaxSource {
		return nil, bad(0, "%d bytes of source, at most %d are allowed", len(source), MaxSource)
	}
	if line := TooDeep(source); line > 0 {
		return nil, bad(line, "nested more than %d levels deep", maxNesting)
	}
	defer func() {
		if r := recover(); r != nil {
			proto, err = nil, bad(0, "cannot be compiled: %v", r)
		}
	}()
	tree, failed := parse.Parse(strings.NewReader(source), name+".lua")
	if failed != nil {
		var e *parse.Error
		if !errors.As(failed, &e) {
			return nil, bad(0, "%v", failed)
		}
		if e.Pos.Line == parse.EOF {
			return nil, bad(strings.Count(source, "\n")+1, "%s at the end", e.Message)
		}
		return nil, bad(e.Pos.Line, "%s near %.32q", e.Message, e.Token)
	}
	r := rewriter{}
	tree = r.chunk(tree)
	if r.deep > 0 {
		return nil, bad(r.deep, "nested more than %d levels deep", maxNesting)
	}
	proto, failed = lua.Compile(tree, name+".lua")
	if failed != nil {
		var e *lua.CompileError
		if errors.As(failed, &e) {
			return nil, bad(e.Line, "%s", e.Message)
		}
		return nil, bad(0, "%v", failed)
	}
	return proto, nil
}

// TooDeep returns the line on which brackets and blocks are nested too deep, 0 when none is. It
// parses only enough of the language to recognize strings and comments.
func TooDeep(source string) int {
	depth, line := 0, 1
	for i := 0; i < len(source); {
		c := source[i]
		switch {
		case c == '\n':
			line++
			i++
		case strings.HasPrefix(source[i:], "--"):
			if n := longBracket(source[i+2:]); n > 0 {
				line += strings.Count(source[i:i+2+n], "\n")
				i += 2 + n
			} else if n := strings.IndexByte(source[i:], '\n'); n >= 0 {
				i += n
			} else {
				i = len(source)
			}
		case c == '"' || c == '\'':
			for i++; i < len(source) && source[i] != c && source[i] != '\n'; i++ {
				if source[i] == '\\' {
					if i++; i < len(source) && source[i] == '\n' {
						line++
					}
				}
			}
			if i < len(source) && source[i] == c {
				i++
			}
		case c == '[' && longBracket(source[i:]) > 0:
			n := longBracket(source[i:])
			line += strings.Count(source[i:i+n], "\n")
			i += n
		case isWord(c):
			from := i
			for i < len(source) && isWord(source[i]) {
				i++
			}
			switch source[from:i] {
			case "function", "do", "then", "repeat":
				depth++
			case "end", "until", "elseif": // the then of an elseif opens again
				depth--
			}
		default:
			i++
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			}
		}
		if depth > maxNesting {
			return line
		}
		depth = max(depth, 0)
	}
	return 0
}

// longBracket returns the length of the [[...]] or [==[...]==] that s begins with, all of s when it
// is not closed, or 0.
func longBracket(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	level := len(s[1:]) - len(strings.TrimLeft(s[1:], "="))
	if len(s) < level+2 || s[level+1] != '[' {
		return 0
	}
	if n := strings.Index(s, "]"+s[1:level+1]+"]"); n >= 0 {
		return n + level + 2
	}
	return len(s)
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// The names of our helpers in rewritten code. Each begins with a space, so that no source can use
// them.
const (
	nameConcat   = " concat"
	nameSet      = " set"
	nameTable    = " table"
	nameFunction = " function"
	nameKey      = " key"
)

var helperNames = []string{nameConcat, nameSet, nameTable, nameFunction, nameKey}

// A rewriter replaces, in a parsed chunk, everything that makes or grows a value by a call of a
// helper that pays for it.
type rewriter struct {
	deep   int // the line where nesting is too deep, or 0
	idents int // seen so far: no function has more upvalues than identifiers
	temps  int
}

// chunk rewrites a module: its code becomes a function inside one that takes the helpers.
func (r *rewriter) chunk(stmts []ast.Stmt) []ast.Stmt {
	body := &ast.FunctionExpr{ParList: &ast.ParList{HasVargs: true}, Stmts: r.block(stmts, 0)}
	body.SetLine(1)
	take := &ast.LocalAssignStmt{Names: helperNames, Exprs: []ast.Expr{&ast.Comma3Expr{}}}
	run := &ast.ReturnStmt{Exprs: []ast.Expr{&ast.FuncCallExpr{Func: body, AdjustRet: true}}}
	return []ast.Stmt{take, run}
}

func (r *rewriter) tooDeep(at ast.PositionHolder, depth int) bool {
	if depth > maxNesting && r.deep == 0 {
		r.deep = max(at.Line(), 1)
	}
	return r.deep > 0
}

func (r *rewriter) block(stmts []ast.Stmt, depth int) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(stmts))
	for _, s := range stmts {
		if r.tooDeep(s, depth) {
			return nil
		}
		out = r.stmt(out, s, depth+1)
	}
	return out
}

func (r *rewriter) stmt(out []ast.Stmt, stmt ast.Stmt, depth int) []ast.Stmt {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		r.exprs(s.Rhs, depth)
		return r.assign(out, s, depth)
	case *ast.LocalAssignStmt:
		if len(s.Exprs) == 1 {
			if f, ok := s.Exprs[0].(*ast.FunctionExpr); ok { // must stay one: its name is known inside it
				size := r.function(f, depth)
				return append(out, callStmt(s, nameFunction, &ast.NilExpr{}, size), s)
			}
		}
		r.exprs(s.Exprs, depth)
	case *ast.FuncCallStmt:
		s.Expr = r.expr(s.Expr, depth)
	case *ast.DoBlockStmt:
		s.Stmts = r.block(s.Stmts, depth)
	case *ast.WhileStmt:
		s.Condition, s.Stmts = r.expr(s.Condition, depth), r.block(s.Stmts, depth)
	case *ast.RepeatStmt:
		s.Stmts, s.Condition = r.block(s.Stmts, depth), r.expr(s.Condition, depth)
	case *ast.IfStmt:
		for { // an elseif is an if in the else, and not deeper
			s.Condition, s.Then = r.expr(s.Condition, depth), r.block(s.Then, depth)
			if len(s.Else) == 1 {
				if next, ok := s.Else[0].(*ast.IfStmt); ok {
					s = next
					continue
				}
			}
			s.Else = r.block(s.Else, depth)
			break
		}
	case *ast.NumberForStmt:
		s.Init, s.Limit, s.Step = r.expr(s.Init, depth), r.expr(s.Limit, depth),
			r.expr(s.Step, depth)
		s.Stmts = r.block(s.Stmts, depth)
	case *ast.GenericForStmt:
		r.exprs(s.Exprs, depth)
		s.Stmts = r.block(s.Stmts, depth)
	case *ast.FuncDefStmt:
		s.Name.Func, s.Name.Receiver = r.expr(s.Name.Func, depth), r.expr(s.Name.Receiver, depth)
		size := r.function(s.Func, depth)
		return append(out, callStmt(s, nameFunction, &ast.NilExpr{}, size+sizeEntry), s)
	case *ast.ReturnStmt:
		r.exprs(s.Exprs, depth)
	}
	return append(out, stmt)
}

// assign turns t[k] = v into a call. With several targets, all values are evaluated before the
// first assignment, as the language requires.
func (r *rewriter) assign(out []ast.Stmt, s *ast.AssignStmt, depth int) []ast.Stmt {
	indexed := 0
	for _, l := range s.Lhs {
		if target, ok := l.(*ast.AttrGetExpr); ok {
			target.Object, target.Key = r.expr(target.Object, depth), r.expr(target.Key, depth)
			indexed++
		}
	}
	if indexed == 0 && !slices.ContainsFunc(s.Rhs, adjusted) {
		return append(out, s)
	}
	if indexed == 0 && len(s.Lhs) == 1 && len(s.Rhs) == 1 {
		// For a call truncated to one value the compiler puts the function into a parameter that it
		// assigns to, before it reads the arguments. One target takes one value anyway.
		s.Rhs[0].(*ast.FuncCallExpr).AdjustRet = false
		return append(out, s)
	}
	if target, ok := s.Lhs[0].(*ast.AttrGetExpr); ok && len(s.Lhs) == 1 && len(s.Rhs) == 1 {
		return append(out,
			&ast.FuncCallStmt{StmtBase: s.StmtBase,
				Expr: call(s, nameSet, target.Object, target.Key, single(s.Rhs[0]))})
	}
	places, values := &ast.LocalAssignStmt{StmtBase: s.StmtBase},
		&ast.LocalAssignStmt{StmtBase: s.StmtBase, Exprs: s.Rhs}
	var sets []ast.Stmt
	for _, l := range s.Lhs {
		value := r.temp(s)
		values.Names = append(values.Names, value.Value)
		target, ok := l.(*ast.AttrGetExpr)
		if !ok {
			sets = append(sets,
				&ast.AssignStmt{StmtBase: s.StmtBase, Lhs: []ast.Expr{l}, Rhs: []ast.Expr{value}})
			continue
		}
		object, key := r.temp(s), r.temp(s)
		places.Names = append(places.Names, object.Value, key.Value)
		places.Exprs = append(places.Exprs, single(target.Object), single(target.Key))
		sets = append(sets,
			&ast.FuncCallStmt{StmtBase: s.StmtBase, Expr: call(s, nameSet, object, key, value)})
	}
	return append(out,
		&ast.DoBlockStmt{StmtBase: s.StmtBase, Stmts: append([]ast.Stmt{places, values}, sets...)})
}

// adjusted reports whether an expression is a call truncated to one value, as all of ours are.
func adjusted(e ast.Expr) bool {
	c, ok := e.(*ast.FuncCallExpr)
	return ok && c.AdjustRet
}

func (r *rewriter) temp(at ast.PositionHolder) *ast.IdentExpr {
	r.temps++
	e := &ast.IdentExpr{Value: fmt.Sprintf(" t%d", r.temps)}
	e.SetLine(at.Line())
	return e
}

func (r *rewriter) exprs(list []ast.Expr, depth int) {
	for i, e := range list {
		list[i] = r.expr(e, depth)
	}
}

// function rewrites a function's body and returns the cost of making the function.
func (r *rewriter) function(f *ast.FunctionExpr, depth int) int {
	before := r.idents
	f.Stmts = r.block(f.Stmts, depth)
	return sizeClosure + sizeUpvalue*min(len(helperNames)+r.idents-before, 255)
}

func (r *rewriter) expr(expr ast.Expr, depth int) ast.Expr {
	if expr == nil || r.tooDeep(expr, depth) {
		return expr
	}
	depth++
	switch e := expr.(type) {
	case *ast.IdentExpr:
		r.idents++
	case *ast.AttrGetExpr:
		e.Object, e.Key = r.expr(e.Object, depth), r.expr(e.Key, depth)
	case *ast.TableExpr:
		return r.table(e, depth)
	case *ast.FuncCallExpr:
		e.Func, e.Receiver = r.expr(e.Func, depth), r.expr(e.Receiver, depth)
		r.exprs(e.Args, depth)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs, depth), r.expr(e.Rhs, depth)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs, depth), r.expr(e.Rhs, depth)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = r.expr(e.Lhs, depth), r.expr(e.Rhs, depth)
	case *ast.UnaryMinusOpExpr:
		e.Expr = r.expr(e.Expr, depth)
	case *ast.UnaryNotOpExpr:
		e.Expr = r.expr(e.Expr, depth)
	case *ast.UnaryLenOpExpr:
		e.Expr = r.expr(e.Expr, depth)
	case *ast.StringConcatOpExpr:
		return r.concat(e, depth)
	case *ast.FunctionExpr:
		return call(e, nameFunction, e, number(r.function(e, depth)))
	}
	return expr
}

// table pays for a constructor, by what is written in it; values from a ... or a call at its end
// are counted at run time.
func (r *rewriter) table(e *ast.TableExpr, depth int) ast.Expr {
	size := sizeTable
	for _, f := range e.Fields {
		f.Value = r.expr(f.Value, depth)
		size += sizeEntry
		if _, constant := f.Key.(*ast.StringExpr); f.Key != nil && !constant {
			f.Key = call(e, nameKey, r.expr(f.Key, depth))
		}
	}
	open := 0 // 1 when the last value may be several
	if n := len(e.Fields); n > 0 && e.Fields[n-1].Key == nil {
		switch last := e.Fields[n-1].Value.(type) {
		case *ast.Comma3Expr:
			open = 1
		case *ast.FuncCallExpr:
			if !last.AdjustRet {
				open = 1
			}
		}
	}
	return call(e, nameTable, e, number(size), number(open))
}

// maxConcat is how many operands one call of the helper takes: a function has 200 registers.
const maxConcat = 40

// concat makes one call of a chain of .., which the parser returns as a list descending on the
// right.
func (r *rewriter) concat(e *ast.StringConcatOpExpr, depth int) ast.Expr {
	var operands []ast.Expr
	for next := ast.Expr(e); next != nil; {
		c, ok := next.(*ast.StringConcatOpExpr)
		if !ok {
			operands = append(operands, single(r.expr(next, depth)))
			break
		}
		operands = append(operands, single(r.expr(c.Lhs, depth)))
		next = c.Rhs
	}
	for len(operands) > maxConcat { // the operator is right-associative: the end first
		from := len(operands) - maxConcat
		operands = append(operands[:from], call(e, nameConcat, slices.Clone(operands[from:])...))
		if depth++; r.tooDeep(e, depth) {
			return e
		}
	}
	return call(e, nameConcat, operands...)
}

// single truncates an expression to one value that could be several at the end of a list.
func single(e ast.Expr) ast.Expr {
	switch x := e.(type) {
	case *ast.Comma3Expr:
		x.AdjustRet = true
	case *ast.FuncCallExpr:
		x.AdjustRet = true
	}
	return e
}

func number(n int) *ast.NumberExpr { return &ast.NumberExpr{Value: fmt.Sprint(n)} }

func call(at ast.PositionHolder, name string, args ...ast.Expr) *ast.FuncCallExpr {
	f := &ast.IdentExpr{Value: name}
	f.SetLine(at.Line())
	e := &ast.FuncCallExpr{Func: f, Args: args, AdjustRet: true}
	e.SetLine(at.Line())
	e.SetLastLine(at.Line())
	for _, a := range args {
		if a.Line() == 0 {
			a.SetLine(at.Line())
		}
	}
	return e
}

func callStmt(at ast.Stmt, name string, value ast.Expr, size int) *ast.FuncCallStmt {
	s := &ast.FuncCallStmt{Expr: call(at, name, value, number(size))}
	s.SetLine(at.Line())
	return s
}
