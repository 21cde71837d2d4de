package sandbox

import (
	"context"
	"fmt"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// lookEvery is how many instructions pass between two checks of the clock. An instruction takes 10
// to 100 ns, with a string of 1 MiB as a key 0.1 ms: checking costs 1 % and is at most some 10 ms
// late.
const lookEvery = 128

// Caps on the time counted between two checks: longest, and slowest for each library step paid for
// at once. Anything longer is not the plugin's fault: the machine was busy (the Go scheduler gives
// each goroutine 10 ms at a time), and a plugin must not be stopped, and after three times
// abandoned, for that. The slowest instructions, with strings of 1 MiB as keys, take 13 ms between
// two checks, and can make a call last six times its limit. Smaller caps would make that worse.
const (
	longest = 2 * time.Millisecond
	slowest = time.Microsecond
)

// A meter counts what a call uses. It is the context that the interpreter queries before each
// instruction: that is how instructions are counted, without a timer or a goroutine, and why our
// errors cannot be caught: every instruction after one, in any handler, raises it again.
type meter struct {
	vm           *VM
	ctx          context.Context
	looked       time.Time     // last
	left         time.Duration // of the call's time
	paid         int64         // steps beyond lookEvery at that check: what they were paid for came after it
	until        int64         // instructions until the next check
	instructions int64         // left after that
	bytes        int64         // left
	made         int64         // since the last sweep
	fault        *Error
}

func (m *meter) start(ctx context.Context, limit time.Duration) {
	l := &m.vm.limits
	m.ctx, m.looked, m.left = ctx, time.Now(), limit
	m.until, m.instructions, m.bytes, m.paid, m.fault = 1, l.Instructions, l.Memory, 0, nil
	m.vm.logged = 0
}

// Deadline, Done, Err and Value make a meter the context of the interpreter.
func (m *meter) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done is called before each instruction; a nil channel lets it run.
func (m *meter) Done() <-chan struct{} {
	if m.until--; m.until <= 0 {
		m.look()
		m.check()
	}
	return nil
}

// Err says why a call ended.
func (m *meter) Err() error {
	if m.fault == nil {
		return nil
	}
	return m.fault
}

// Value holds nothing.
func (m *meter) Value(any) any { return nil }

// look checks the clock, the context and the instruction count against their limits.
func (m *meter) look() {
	if m.fault != nil {
		m.until = 0
		return
	}
	over := -min(m.until, 0)
	now := time.Now()
	m.left -= min(now.Sub(m.looked), longest+slowest*time.Duration(over+m.paid))
	m.looked, m.paid = now, over
	m.until, m.instructions = lookEvery, m.instructions-lookEvery
	switch {
	case m.instructions <= 0:
		m.fail(Time, fmt.Sprintf("more than %d instructions", m.vm.limits.Instructions))
	case m.left <= 0:
		m.fail(Time, "out of time")
	case m.ctx.Err() != nil:
		m.fail(Time, clip(m.ctx.Err().Error()))
	}
}

// fail records the first limit that was exceeded, and where.
func (m *meter) fail(kind Kind, message string) {
	if m.fault == nil {
		m.fault = &Error{Kind: kind, Function: m.vm.current, Message: message}
		for level := range 4 { // past our own functions, to the line that called them
			if module, line, _ := splitPosition(m.vm.state.Where(level)); module != "" {
				m.fault.Module, m.fault.Line = module, line
				break
			}
		}
	}
	m.until = 0
}

// stop ends the call for exceeding a limit. It does not return.
func (m *meter) stop(kind Kind, message string) {
	m.fail(kind, message)
	m.check()
}

// check raises the fault that look has found.
func (m *meter) check() {
	if m.fault != nil {
		panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: lua.LString(m.fault.Message),
			StackTrace: noTrace})
	}
}

// noTrace replaces the stack trace that the interpreter would make for each error: it has a line
// for each tail call ever made, millions in a loop of them.
const noTrace = "-"

func quietly(L *lua.LState) {
	panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: L.Get(-1), StackTrace: noTrace})
}

// quiet calls its first argument with the others, and makes errors in it carry no stack trace.
func quiet(L *lua.LState) int {
	L.Panic = quietly // PCall, which calls quiet, restores the old one
	L.Call(L.GetTop()-1, lua.MultRet)
	return L.GetTop()
}

// work pays for n steps of a library function, each about as long as an instruction.
func (m *meter) work(n int) {
	if m.until -= int64(n); m.until <= 0 {
		m.instructions += m.until // beyond the check's own share
		m.look()
		m.check()
	}
}

// clock pays for something slow: it always checks the clock.
func (m *meter) clock() {
	m.look()
	m.check()
}

// pay pays for n allocated bytes.
func (m *meter) pay(n int64) {
	m.made += n
	if m.bytes -= n; m.bytes < 0 {
		m.stop(Memory, fmt.Sprintf("more than %d bytes made in a call", m.vm.limits.Memory))
	}
}

// afford checks, before a string of n bytes is made, that it is allowed, and pays for it.
func (m *meter) afford(n int) {
	if n > m.vm.limits.String || n < 0 {
		m.stop(Memory,
			fmt.Sprintf("a string of %d bytes, at most %d are allowed", n, m.vm.limits.String))
	}
	m.pay(int64(n) + sizeString)
	m.work(n >> 6) // copying moves some 64 bytes per instruction
}

// text pays for a string and makes a value of it.
func (m *meter) text(s string) lua.LValue {
	m.afford(len(s))
	return lua.LString(s)
}

// The interpreter's memory use per value, measured on 64 bits and rounded up. A table's maps start
// with 32 entries each.
const (
	sizeString  = 48
	sizeTable   = 3 << 10
	sizeElement = 48
	sizeEntry   = 192
	sizeClosure = 192
	sizeUpvalue = 72
)

// sweep measures what the plugin keeps, when a quarter of the allowed amount was allocated since
// the last time, so that its cost is proportional to what is allocated.
func (v *VM) sweep() *Error {
	if v.made < v.limits.Retained/4 {
		return nil
	}
	v.made = 0
	w := walker{seen: map[any]bool{}}
	w.visit(v.state.G.Global)
	for _, f := range v.functions {
		w.visit(f)
	}
	for _, m := range v.loaded {
		w.visit(m)
	}
	for t := range v.objects {
		w.visit(t)
	}
	for len(w.open) > 0 {
		last := len(w.open) - 1
		next := w.open[last]
		w.open = w.open[:last]
		w.enter(v, next)
	}
	if w.bytes > v.limits.Retained {
		v.dead = &Error{Kind: Memory, Function: v.current,
			Message: fmt.Sprintf("%d bytes kept after a call, at most %d are allowed", w.bytes,
				v.limits.Retained)}
		return v.dead
	}
	return nil
}

type walker struct {
	seen  map[any]bool
	open  []lua.LValue
	bytes int64
}

func (w *walker) visit(value lua.LValue) {
	switch x := value.(type) {
	case lua.LString:
		if len(x) < 64 { // counted with its holder; longer ones once, however often they are held
			return
		}
		if !w.seen[x] {
			w.seen[x] = true
			w.bytes += int64(len(x))
		}
	case *lua.LTable, *lua.LFunction:
		if !w.seen[x] {
			w.seen[x] = true
			w.open = append(w.open, x)
		}
	}
}

func (w *walker) enter(v *VM, value lua.LValue) {
	switch x := value.(type) {
	case *lua.LFunction:
		w.bytes += sizeClosure
		for _, u := range x.Upvalues {
			w.bytes += sizeUpvalue
			w.visit(u.Value())
		}
	case *lua.LTable:
		w.visit(x.Metatable)
		w.bytes += sizeTable + int64(x.Len())*sizeElement
		n := x.Len()
		fresh := v.state.CreateTable(n, 0)
		for key, value := x.Next(lua.LNil); key != lua.LNil; key, value = x.Next(key) {
			w.visit(key)
			w.visit(value)
			if i, ok := key.(lua.LNumber); !ok || i < 1 || int(i) > n {
				w.bytes += sizeEntry
			}
			fresh.RawSet(key, value)
		}
		// The interpreter never drops a key, only its value: a table used as a set of things seen
		// would grow for ever.
		fresh.Metatable = x.Metatable
		*x = *fresh
	}
}
