package sandbox

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Bounds on what a machine caches, for patterns and expressions each: entries, and items or
// instructions of all of them, about 100 bytes each. A plugin has some tens of each; one that
// builds them from the screen now and then loses all.
const (
	cacheSize   = 256
	cacheWeight = 32 << 10
)

// A cache is a bounded map. The zero value is ready to use.
type cache[T interface{ weight() int }] struct {
	values map[string]T
	total  int
}

func (p *pattern) weight() int  { return len(p.items) }
func (c *compiled) weight() int { return c.size }

func (c *cache[T]) get(key string, make func(string) (T, error)) (T, error) {
	if value, ok := c.values[key]; ok {
		return value, nil
	}
	value, err := make(key)
	if err != nil {
		return value, err
	}
	c.total += value.weight()
	if c.values == nil || len(c.values) >= cacheSize || c.total > cacheWeight {
		c.values, c.total = map[string]T{}, value.weight()
	}
	c.values[strings.Clone(key)] = value
	return value, nil
}

// newMatch prepares a pattern function. Its steps are counted over the whole call of the function,
// and as instructions.
func (v *VM) newMatch(L *lua.LState, subject, source string) *match {
	p, err := v.patterns.get(source, func(s string) (*pattern, error) {
		v.work(len(s))
		return parsePattern(s)
	})
	if err != nil {
		L.RaiseError("%s", err)
	}
	m := &match{pattern: p, subject: subject}
	m.step = v.steps()
	return m
}

func (v *VM) steps() func(int) {
	left, owed := v.limits.Steps, 0
	return func(n int) {
		if owed += n; owed < lookEvery {
			return
		}
		left -= owed
		v.work(owed)
		owed = 0
		if left <= 0 {
			v.stop(Pattern, fmt.Sprintf("a pattern took more than %d steps", v.limits.Steps))
		}
	}
}

// pushCaptures pushes the captures, the whole match when there are none and whole is set, and
// returns how many.
func (v *VM) pushCaptures(L *lua.LState, m *match, from, to int, whole bool) int {
	if m.captures == 0 && whole {
		L.Push(v.piece(m.subject, m.subject[from:to]))
		return 1
	}
	for n := range m.captures {
		L.Push(v.capture(m, n))
	}
	return m.captures
}

func (v *VM) capture(m *match, n int) lua.LValue {
	span := m.spans[n]
	if span[1] == positionOnly {
		return lua.LNumber(span[0] + 1)
	}
	return v.piece(m.subject, m.subject[span[0]:span[1]])
}

// piece makes a value of a part of source. A small one is a copy: a plugin that kept one byte of
// each of many strings would otherwise keep them all, uncounted.
func (v *VM) piece(source, part string) lua.LValue {
	if len(part) < len(source)/2 {
		v.afford(len(part))
		return lua.LString(strings.Clone(part))
	}
	v.pay(sizeString)
	return lua.LString(part)
}

// startAt reads the third argument of find and match; ok is false when it is past the end.
func (v *VM) startAt(L *lua.LState, size int) (at int, ok bool) {
	at = v.integer(L, 3, 1)
	if at < 0 {
		at = max(size+at+1, 1)
	}
	at = max(at, 1) - 1
	return at, at <= size
}

func (v *VM) stringFind(L *lua.LState) int {
	s, source := L.CheckString(1), L.CheckString(2)
	at, ok := v.startAt(L, len(s))
	if !ok {
		L.Push(lua.LNil)
		return 1
	}
	if lua.LVAsBool(L.Get(4)) || !strings.ContainsAny(source, "^$*+?.([%-") {
		v.work(1 + (len(s)-at)>>6)
		n := strings.Index(s[at:], source)
		if n < 0 {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LNumber(at + n + 1))
		L.Push(lua.LNumber(at + n + len(source)))
		return 2
	}
	m := v.newMatch(L, s, source)
	from, to := m.find(at)
	if from < 0 {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(from + 1))
	L.Push(lua.LNumber(to))
	return 2 + v.pushCaptures(L, m, from, to, false)
}

func (v *VM) stringMatch(L *lua.LState) int {
	s, source := L.CheckString(1), L.CheckString(2)
	if at, ok := v.startAt(L, len(s)); ok {
		m := v.newMatch(L, s, source)
		if from, to := m.find(at); from >= 0 {
			return v.pushCaptures(L, m, from, to, true)
		}
	}
	L.Push(lua.LNil)
	return 1
}

// stringGmatch returns an iterator. In Lua 5.1 a ^ has no special meaning here, so it matches
// literally.
func (v *VM) stringGmatch(L *lua.LState) int {
	s, source := L.CheckString(1), L.CheckString(2)
	if strings.HasPrefix(source, "^") {
		source = "%" + source
	}
	m := v.newMatch(L, s, source)
	at := 0
	v.pay(sizeClosure + sizeUpvalue + int64(maxCaptures)*16)
	L.Push(L.NewClosure(func(L *lua.LState) int {
		m.step = v.steps()
		if at > len(s) {
			return 0
		}
		from, to := m.find(at)
		if from < 0 {
			at = len(s) + 1
			return 0
		}
		if at = to; to == from {
			at++ // an empty match: continue after it
		}
		return v.pushCaptures(L, m, from, to, true)
	}, lua.LString(s))) // where sweep finds it
	return 1
}

func (v *VM) stringGsub(L *lua.LState) int {
	s, source, replacement := L.CheckString(1), L.CheckString(2), L.Get(3)
	switch replacement.(type) {
	case lua.LString, lua.LNumber, *lua.LTable, *lua.LFunction:
	default:
		L.ArgError(3, "string/function/table expected, got "+replacement.Type().String())
	}
	most := v.integer(L, 4, len(s)+1)
	m := v.newMatch(L, s, source)
	var b strings.Builder
	count := 0
	at := 0
	for count < most {
		from, to := m.find(at)
		if from < 0 {
			break
		}
		b.WriteString(s[at:from])
		count++
		v.replace(L, &b, m, from, to, replacement)
		if b.Len() > v.limits.String {
			v.afford(b.Len())
		}
		at = to
		if from == to { // an empty match: advance one byte
			if at == len(s) {
				break
			}
			b.WriteByte(s[at])
			at++
		}
		if m.anchored {
			break
		}
	}
	b.WriteString(s[at:])
	L.Push(v.text(b.String()))
	L.Push(lua.LNumber(count))
	return 2
}

// replace writes the replacement of one match; false and nil leave it unchanged.
func (v *VM) replace(L *lua.LState, b *strings.Builder, m *match, from, to int,
	replacement lua.LValue) {
	whole := m.subject[from:to]
	var value lua.LValue
	switch r := replacement.(type) {
	case *lua.LTable:
		key := lua.LValue(lua.LString(whole))
		if m.captures > 0 {
			key = v.capture(m, 0)
		}
		value = L.GetTable(r, key)
	case *lua.LFunction:
		L.Push(r)
		spans := m.spans // the function may use the same pattern, but not the same match
		n := v.pushCaptures(L, m, from, to, true)
		L.Call(n, 1)
		m.spans = spans
		value = L.Get(-1)
		L.Pop(1)
	default:
		v.expand(L, b, m, whole, lua.LVAsString(r))
		return
	}
	switch {
	case lua.LVIsFalse(value):
		b.WriteString(whole)
	case lua.LVCanConvToString(value):
		b.WriteString(lua.LVAsString(value))
	default:
		L.RaiseError("invalid replacement value (%s)", kindOf(value))
	}
}

// expand writes a replacement string, in which %0 to %9 are the match and its captures.
func (v *VM) expand(L *lua.LState, b *strings.Builder, m *match, whole, text string) {
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		m.step(1 + len(before)>>6)
		if !found || after == "" {
			return
		}
		switch c := after[0]; {
		case !isDigit(c):
			b.WriteByte(c)
		case c == '0' || c == '1' && m.captures == 0:
			b.WriteString(whole)
		case int(c-'1') >= m.captures:
			L.RaiseError("invalid capture index")
		default:
			b.WriteString(lua.LVAsString(v.capture(m, int(c-'1'))))
		}
		if b.Len() > v.limits.String {
			v.afford(b.Len())
		}
		text = after[1:]
	}
}
