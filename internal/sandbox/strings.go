package sandbox

import (
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// stringFunctions is the string library: Lua 5.1's without dump, plus contains, starts_with,
// ends_with, split and trim, which do not use patterns and are what a classifier needs most.
func (v *VM) stringFunctions() library {
	return library{
		"byte": v.stringByte, "char": v.stringChar, "find": v.stringFind, "format": v.stringFormat,
		"gmatch": v.stringGmatch, "gsub": v.stringGsub, "len": stringLen,
		"lower": v.stringMap(lower), "match": v.stringMatch, "rep": v.stringRep,
		"reverse": v.stringReverse, "sub": v.stringSub, "upper": v.stringMap(upper),
		"contains":    v.stringTest(strings.Contains),
		"starts_with": v.stringTest(strings.HasPrefix),
		"ends_with":   v.stringTest(strings.HasSuffix),
		"split":       v.stringSplit,
		"trim":        v.stringTrim,
	}
}

// span converts the positions of a string function, from 1 and from the end when negative, to a Go
// range.
func (v *VM) span(L *lua.LState, n, size, to int) (int, int) {
	from := v.integer(L, n, 1)
	to = v.integer(L, n+1, to)
	if from < 0 {
		from = max(size+from+1, 1)
	}
	if to < 0 {
		to = size + to + 1
	}
	from, to = max(from, 1), min(to, size)
	if from > to {
		return 0, 0
	}
	return from - 1, to
}

func (v *VM) stringByte(L *lua.LState) int {
	s := L.CheckString(1)
	from, to := v.span(L, 2, len(s), v.integer(L, 2, 1))
	if to-from > maxUnpacked {
		L.RaiseError("string slice too long: at most %d", maxUnpacked)
	}
	for _, c := range []byte(s[from:to]) {
		L.Push(lua.LNumber(c))
	}
	v.work(to - from)
	return to - from
}

func (v *VM) stringChar(L *lua.LState) int {
	b := make([]byte, L.GetTop())
	for i := range b {
		c := v.integer(L, i+1, 0)
		if c < 0 || c > 255 {
			L.ArgError(i+1, "invalid value")
		}
		b[i] = byte(c)
	}
	L.Push(v.text(string(b)))
	return 1
}

func stringLen(L *lua.LState) int {
	L.Push(lua.LNumber(len(L.CheckString(1))))
	return 1
}

// lower and upper handle ASCII only, as Lua's do in the C locale; other bytes are unchanged.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c &^= 0x20
	}
	return c
}

func (v *VM) stringMap(f func(byte) byte) lua.LGFunction {
	return func(L *lua.LState) int {
		b := []byte(L.CheckString(1))
		v.afford(len(b))
		for i, c := range b {
			b[i] = f(c)
		}
		v.work(len(b) >> 3)
		L.Push(lua.LString(b))
		return 1
	}
}

func (v *VM) stringReverse(L *lua.LState) int {
	s := L.CheckString(1)
	v.afford(len(s))
	b := make([]byte, len(s))
	for i := range b {
		b[i] = s[len(s)-1-i]
	}
	v.work(len(b) >> 3)
	L.Push(lua.LString(b))
	return 1
}

func (v *VM) stringSub(L *lua.LState) int {
	s := L.CheckString(1)
	from, to := v.span(L, 2, len(s), -1)
	L.Push(v.piece(s, s[from:to]))
	return 1
}

func (v *VM) stringRep(L *lua.LState) int {
	s, n := L.CheckString(1), max(v.integer(L, 2, 0), 0)
	if len(s) == 0 {
		n = 0
	} else if n > v.limits.String/len(s) {
		v.afford(int(min(float64(n)*float64(len(s)), 1<<62)))
	}
	v.afford(n * len(s))
	L.Push(lua.LString(strings.Repeat(s, n)))
	return 1
}

func (v *VM) stringTest(f func(s, part string) bool) lua.LGFunction {
	return func(L *lua.LState) int {
		s := L.CheckString(1)
		v.work(len(s) >> 6)
		L.Push(lua.LBool(f(s, L.CheckString(2))))
		return 1
	}
}

func (v *VM) stringTrim(L *lua.LState) int {
	s := L.CheckString(1)
	L.Push(v.piece(s, strings.TrimSpace(s)))
	return 1
}

func (v *VM) stringSplit(L *lua.LState) int {
	s, separator := L.CheckString(1), L.CheckString(2)
	if separator == "" {
		L.ArgError(2, "empty separator")
	}
	v.work(len(s) >> 3)
	v.pay(sizeTable)
	n := 0
	t := L.CreateTable(8, 0)
	for part := range strings.SplitSeq(s, separator) {
		v.pay(sizeElement)
		n++
		t.RawSetInt(n, v.piece(s, part))
	}
	L.Push(t)
	return 1
}

// stringFormat is C's printf with Lua's %q and without %p and *. Width and precision have at most
// two digits.
func (v *VM) stringFormat(L *lua.LState) int {
	format := L.CheckString(1)
	var b strings.Builder
	arg := 1
	for {
		text, rest, found := strings.Cut(format, "%")
		b.WriteString(text)
		v.work(1)
		if !found {
			break
		}
		if strings.HasPrefix(rest, "%") {
			b.WriteByte('%')
			format = rest[1:]
			continue
		}
		n := len(rest) - len(strings.TrimLeft(rest, "-+ #0"))
		flags := rest[:n]
		width, n := number2(rest, n)
		precision := -1
		if n < len(rest) && rest[n] == '.' {
			precision, n = number2(rest, n+1)
		}
		if n >= len(rest) || len(flags) > 5 || width > 99 || precision > 99 {
			L.RaiseError("invalid format: width and precision are two digits at most, and a letter follows")
		}
		arg++
		b.WriteString(v.formatted(L, arg, rest[n], flags, width, precision))
		if b.Len() > v.limits.String {
			v.afford(b.Len())
		}
		format = rest[n+1:]
	}
	L.Push(v.text(b.String()))
	return 1
}

// number2 reads a number at s[i:] and returns it, 100 when it has more than two digits, and where
// it ends.
func number2(s string, i int) (value, end int) {
	for end = i; end < len(s) && '0' <= s[end] && s[end] <= '9'; end++ {
		value = min(value*10+int(s[end]-'0'), 100)
	}
	return value, end
}

func (v *VM) formatted(L *lua.LState, arg int, verb byte, flags string, width,
	precision int) string {
	spec := "%" + flags
	if width > 0 {
		spec += fmt.Sprint(width)
	}
	dot := ""
	if precision >= 0 {
		dot = fmt.Sprintf(".%d", precision)
	}
	switch verb {
	case 'c':
		return fmt.Sprintf("%"+strings.ReplaceAll(flags, "0", "")+"*s", width,
			string([]byte{byte(v.integer(L, arg, 0))}))
	case 'd', 'i':
		L.CheckNumber(arg)
		return fmt.Sprintf(spec+dot+"d", v.integer(L, arg, 0))
	case 'u', 'o', 'x', 'X':
		L.CheckNumber(arg)
		if verb == 'u' {
			verb = 'd'
		}
		return fmt.Sprintf(spec+dot+string(verb), uint64(v.integer(L, arg, 0)))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if precision < 0 {
			dot = ".6" // C's default; Go would print as many digits as needed
		}
		f := float64(L.CheckNumber(arg))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Sprintf("%*s", width,
				strings.ToLower(strings.TrimPrefix(fmt.Sprint(f), "+")))
		}
		return fmt.Sprintf(spec+dot+string(verb), f)
	case 'q':
		return quote(L.CheckString(arg))
	case 's':
		L.CheckAny(arg)
		s := lua.LVAsString(textOf(L, L.Get(arg)))
		if precision >= 0 && precision < len(s) {
			s = s[:precision]
		}
		if pad := width - len(s); pad > 0 { // bytes, as in C: Go counts characters
			if strings.Contains(flags, "-") {
				return s + strings.Repeat(" ", pad)
			}
			return strings.Repeat(" ", pad) + s
		}
		return s
	}
	L.RaiseError("invalid option '%%%s' to 'format'", clip(string(verb)))
	return ""
}

// quote writes a string as Lua source.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch c {
		case '"', '\\', '\n':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\r':
			b.WriteString(`\r`)
		case 0:
			b.WriteString(`\000`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
