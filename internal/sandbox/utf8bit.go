package sandbox

import (
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// utf8Library is Lua 5.3's, for whole strings. Positions are bytes from 1.
func (v *VM) utf8Library() *lua.LTable {
	t := v.table(library{"char": v.utf8Char, "codepoint": v.utf8Codepoint, "codes": v.utf8Codes(),
		"len": v.utf8Len, "offset": v.utf8Offset})
	t.RawSetString("charpattern", lua.LString("[%z\x01-\x7F\xC2-\xF4][\x80-\xBF]*"))
	return t
}

func (v *VM) utf8Char(L *lua.LState) int {
	var b strings.Builder
	for i := 1; i <= L.GetTop(); i++ {
		c := v.integer(L, i, 0)
		if c < 0 || c > utf8.MaxRune {
			L.ArgError(i, "value out of range")
		}
		b.WriteRune(rune(c))
	}
	L.Push(v.text(b.String()))
	return 1
}

// place reads a byte position, from 1 and from the end when negative.
func (v *VM) place(L *lua.LState, n, size, fallback int) int {
	i := v.integer(L, n, fallback)
	if i < 0 {
		i = size + i + 1
	}
	return i
}

func (v *VM) utf8Codepoint(L *lua.LState) int {
	s := L.CheckString(1)
	from := v.place(L, 2, len(s), 1)
	to := v.place(L, 3, len(s), from)
	if from < 1 || to > len(s) {
		L.ArgError(2, "out of range")
	}
	n := 0
	for at := from - 1; at < to; n++ {
		if n == maxUnpacked {
			L.RaiseError("string slice too long: at most %d", maxUnpacked)
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size < 2 {
			L.RaiseError("invalid UTF-8 code")
		}
		L.Push(lua.LNumber(r))
		at += size
	}
	v.work(n)
	return n
}

func (v *VM) utf8Len(L *lua.LState) int {
	s := L.CheckString(1)
	from, to := v.place(L, 2, len(s), 1), v.place(L, 3, len(s), len(s))
	if from < 1 || from > len(s)+1 || to > len(s) {
		L.ArgError(2, "out of range")
	}
	v.work(max(to-from, 0) >> 3)
	n := 0
	for at := from - 1; at < to; n++ {
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size < 2 {
			L.Push(lua.LNil)
			L.Push(lua.LNumber(at + 1))
			return 2
		}
		at += size
	}
	L.Push(lua.LNumber(n))
	return 1
}

// utf8Offset returns where the n-th character from position i begins; n of 0 means the one that
// contains i.
func (v *VM) utf8Offset(L *lua.LState) int {
	s, n := L.CheckString(1), v.integer(L, 2, 1)
	fallback := 1
	if n <= 0 {
		fallback = len(s) + 1
	}
	at := v.place(L, 3, len(s), fallback) - 1
	if at < 0 || at > len(s) {
		L.ArgError(3, "out of range")
	}
	starts := func(i int) bool { return i >= len(s) || utf8.RuneStart(s[i]) }
	v.work(len(s) >> 3)
	if n == 0 {
		for at > 0 && !starts(at) {
			at--
		}
		L.Push(lua.LNumber(at + 1))
		return 1
	}
	if !starts(at) {
		L.RaiseError("initial position is a continuation byte")
	}
	for ; n > 1 && at < len(s); n-- {
		for at++; !starts(at); at++ {
		}
	}
	for ; n < 0 && at > 0; n++ {
		for at--; at > 0 && !starts(at); at-- {
		}
	}
	if n > 1 || n < 0 {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(at + 1))
	return 1
}

func (v *VM) utf8Codes() lua.LGFunction {
	step := v.state.NewFunction(func(L *lua.LState) int {
		s, at := L.CheckString(1), L.CheckInt(2)
		if at > 0 && at <= len(s) {
			_, size := utf8.DecodeRuneInString(s[at-1:])
			at += size
		} else {
			at = 1
		}
		if at > len(s) {
			return 0
		}
		r, size := utf8.DecodeRuneInString(s[at-1:])
		if r == utf8.RuneError && size < 2 {
			L.RaiseError("invalid UTF-8 code")
		}
		L.Push(lua.LNumber(at))
		L.Push(lua.LNumber(r))
		return 2
	})
	return func(L *lua.LState) int {
		s := L.CheckString(1)
		L.Push(step)
		L.Push(lua.LString(s))
		L.Push(lua.LNumber(0))
		return 3
	}
}

// bitLibrary works on 32 bits and returns numbers from 0 to 2^32-1; negative arguments count modulo
// 2^32. It has the methods of LuaJIT's library of this name, but unsigned.
var bitLibrary = library{
	"arshift": shift(func(x uint32, n uint) uint32 { return uint32(int32(x) >> n) }),
	"band":    fold(math.MaxUint32, func(a, b uint32) uint32 { return a & b }),
	"bnot":    func(L *lua.LState) int { L.Push(lua.LNumber(^word(L, 1))); return 1 },
	"bor":     fold(0, func(a, b uint32) uint32 { return a | b }),
	"bxor":    fold(0, func(a, b uint32) uint32 { return a ^ b }),
	"lshift":  shift(func(x uint32, n uint) uint32 { return x << n }),
	"rol":     shift(func(x uint32, n uint) uint32 { return bits.RotateLeft32(x, int(n)) }),
	"ror":     shift(func(x uint32, n uint) uint32 { return bits.RotateLeft32(x, -int(n)) }),
	"rshift":  shift(func(x uint32, n uint) uint32 { return x >> n }),
	"tobit":   func(L *lua.LState) int { L.Push(lua.LNumber(word(L, 1))); return 1 },
	"tohex":   toHex,
}

// word reads a number modulo 2^32.
func word(L *lua.LState, n int) uint32 {
	f := math.Mod(math.Floor(float64(L.CheckNumber(n))), 1<<32)
	if math.IsNaN(f) {
		return 0
	}
	return uint32(int64(f))
}

func fold(start uint32, f func(a, b uint32) uint32) lua.LGFunction {
	return func(L *lua.LState) int {
		x := start
		for i := 1; i <= L.GetTop(); i++ {
			x = f(x, word(L, i))
		}
		L.Push(lua.LNumber(x))
		return 1
	}
}

func shift(f func(x uint32, n uint) uint32) lua.LGFunction {
	return func(L *lua.LState) int {
		L.Push(lua.LNumber(f(word(L, 1), uint(word(L, 2)&31))))
		return 1
	}
}

func toHex(L *lua.LState) int {
	const digits = "0123456789abcdef"
	x := word(L, 1)
	var b [8]byte
	for i := range b {
		b[7-i] = digits[x&15]
		x >>= 4
	}
	L.Push(lua.LString(b[:]))
	return 1
}
