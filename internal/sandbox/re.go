package sandbox

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Bounds of regular expressions. RE2 takes time proportional to text times program, and cannot be
// interrupted.
const (
	maxExpression = 4 << 10  // bytes of source
	maxProgram    = 2000     // instructions; the same limit as in matchers
	maxPass       = 16 << 20 // text times program of one search: some 0.1 s in the worst case, typically 20 ns per screen byte
	passCost      = 1 << 6   // text times program that counts as one instruction
)

type compiled struct {
	*regexp.Regexp
	size int // instructions
}

func compileExpression(source string) (*compiled, error) {
	if len(source) > maxExpression {
		return nil, fmt.Errorf("expression of %d bytes, at most %d are allowed", len(source),
			maxExpression)
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if n := len(program.Inst); n > maxProgram {
		return nil, fmt.Errorf("expression of %d steps, at most %d are allowed; repeat less", n,
			maxProgram)
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, err
	}
	return &compiled{re, len(program.Inst)}, nil
}

// expression returns the text and the expression that a function of re was called with, and the
// cost of one search.
func (v *VM) expression(L *lua.LState) (text string, re *compiled, pass int) {
	text = L.CheckString(1)
	re, pass = v.search(L, len(text), L.CheckString(2))
	return text, re, pass
}

// search compiles an expression and pays for one search of size bytes with it.
func (v *VM) search(L *lua.LState, size int, source string) (re *compiled, pass int) {
	re, err := v.regexps.get(source, func(s string) (*compiled, error) {
		v.work(64 * len(s)) // some 2 us per byte
		return compileExpression(s)
	})
	if err != nil {
		var e *syntax.Error
		if errors.As(err, &e) {
			L.RaiseError("invalid regular expression: %s: %.64q", e.Code, e.Expr)
		}
		L.RaiseError("invalid regular expression: %s", err)
	}
	if pass = (size + 1) * re.size; pass > maxPass {
		v.stop(Pattern,
			fmt.Sprintf("an expression of %d steps on %d bytes; search less", re.size, size))
	}
	v.work(1 + pass/passCost)
	return re, pass
}

// Expression compiles a regular expression, once per text, and pays for searching size bytes with
// it. A bad expression, and one too expensive for size bytes, is a Lua error.
func (a Args) Expression(source string, size int) *regexp.Regexp {
	re, _ := a.v.search(a.L, size, source)
	return re.Regexp
}

func (v *VM) reTest(L *lua.LState) int {
	text, re, _ := v.expression(L)
	L.Push(lua.LBool(re.MatchString(text)))
	return 1
}

// reFind returns start, end and captures, as string.find does; false for a group that did not
// participate.
func (v *VM) reFind(L *lua.LState) int {
	text, re, _ := v.expression(L)
	at := re.FindStringSubmatchIndex(text)
	if at == nil {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(at[0] + 1))
	L.Push(lua.LNumber(at[1]))
	return 2 + v.groups(L, text, at)
}

// reMatch returns the captures, or the whole match when there are no groups.
func (v *VM) reMatch(L *lua.LState) int {
	text, re, _ := v.expression(L)
	switch at := re.FindStringSubmatchIndex(text); len(at) {
	case 0:
		L.Push(lua.LNil)
	case 2:
		L.Push(v.piece(text, text[at[0]:at[1]]))
	default:
		return v.groups(L, text, at)
	}
	return 1
}

func (v *VM) groups(L *lua.LState, text string, at []int) int {
	for i := 2; i < len(at); i += 2 {
		L.Push(v.group(text, at, i))
	}
	return len(at)/2 - 1
}

func (v *VM) group(text string, at []int, i int) lua.LValue {
	if at[i] < 0 {
		return lua.LFalse
	}
	return v.piece(text, text[at[i]:at[i+1]])
}

// reMatchAll returns a list of all matches: strings, or lists of captures when there are groups.
func (v *VM) reMatchAll(L *lua.LState) int {
	text, re, pass := v.expression(L)
	v.pay(sizeTable)
	list := L.CreateTable(4, 0)
	for _, at := range v.all(re, text, pass, len(text)+1) {
		v.pay(sizeElement)
		if len(at) == 2 {
			list.Append(v.piece(text, text[at[0]:at[1]]))
			continue
		}
		v.pay(sizeTable)
		groups := L.CreateTable(len(at)/2-1, 0)
		for i := 2; i < len(at); i += 2 {
			groups.Append(v.group(text, at, i))
		}
		list.Append(groups)
	}
	L.Push(list)
	return 1
}

// all finds up to most matches. Each may search to the end of the text, and Go checks no clock in
// between: matches are requested in batches, at first costing at most one search of the largest
// kind, then doubling.
func (v *VM) all(re *compiled, text string, pass, most int) [][]int {
	for share := max(maxPass/8/pass, 1); ; share *= 2 {
		v.paid += int64(share) * int64(1+pass/passCost) // the time it may take counts, though only what it allocates is paid for
		found := re.FindAllStringSubmatchIndex(text, min(share, most))
		v.pay(int64(len(found)) * int64(re.NumSubexp()*16+64))
		v.work(len(found) * (1 + len(text)>>8))
		v.clock()
		if len(found) < share || share >= most {
			return found
		}
	}
}

// reGsub replaces all matches, or the first n, by a string in which $1 and ${name} are captures, or
// by the result of a function of the captures.
func (v *VM) reGsub(L *lua.LState) int {
	text, re, pass := v.expression(L)
	function, _ := L.Get(3).(*lua.LFunction)
	template := ""
	if function == nil {
		template = L.CheckString(3)
	}
	most := v.integer(L, 4, len(text)+1)
	var found [][]int
	if most > 0 {
		found = v.all(re, text, pass, most)
	}
	var b strings.Builder
	var piece []byte
	last := 0
	for _, at := range found {
		b.WriteString(text[last:at[0]])
		last = at[1]
		if function == nil {
			v.work(1 + len(template)>>3)
			if (len(template)+1)*(at[1]-at[0]+1) > 2*v.limits.String { // $0$0$0... of a long match, before it is made
				v.afford(len(template) * (at[1] - at[0] + 1))
			}
			piece = re.ExpandString(piece[:0], template, text, at)
			b.Write(piece)
		} else {
			L.Push(function)
			n := 1
			if len(at) == 2 {
				L.Push(v.piece(text, text[at[0]:at[1]]))
			} else {
				n = v.groups(L, text, at)
			}
			L.Call(n, 1)
			value := L.Get(-1)
			L.Pop(1)
			if lua.LVIsFalse(value) {
				b.WriteString(text[at[0]:at[1]])
			} else if lua.LVCanConvToString(value) {
				b.WriteString(lua.LVAsString(value))
			} else {
				L.RaiseError("invalid replacement value (%s)", kindOf(value))
			}
		}
		if b.Len() > v.limits.String {
			v.afford(b.Len())
		}
	}
	b.WriteString(text[last:])
	L.Push(v.text(b.String()))
	L.Push(lua.LNumber(len(found)))
	return 2
}
