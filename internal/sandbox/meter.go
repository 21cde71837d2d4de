package sandbox

import (
	"context"
	"fmt"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// lookEvery is how many instructions pass between two looks at the clock. An instruction takes 10 to 100 ns, with a string of
// 1 MiB as a key 0.1 ms: a look costs 1 % and comes at most some 10 ms late.
const lookEvery = 128

// What the time between two looks counts for at most: longest, and slowest for each step of the library that was paid for at
// once. What takes longer is not the plugin: the machine was busy with others (the Go scheduler gives each goroutine 10 ms at a
// time), and a plugin is not to be stopped, and after three times given up, for that. The slowest instructions, with strings of
// 1 MiB as keys, take 13 ms between two looks, and can make a call last six times its limit. Less would make that more.
const (
	longest = 2 * time.Millisecond
	slowest = time.Microsecond
)

// A meter counts what a call uses. It is the context that the interpreter asks before each instruction whether it is done:
// that is how instructions are counted, without a timer and without a goroutine, and why an error of ours cannot be
// caught: every instruction after it, in whatever handler, raises it again.
type meter struct {
	vm           *VM
	ctx          context.Context
	looked       time.Time     // last
	left         time.Duration // of the call's time
	paid         int64         // steps over lookEvery at that look: what they were paid for came after it
	until        int64         // instructions until the next look
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

// Done is asked before each instruction; a nil channel lets it run.
func (m *meter) Done() <-chan struct{} {
	if m.until--; m.until <= 0 {
		m.look()
		m.check()
	}
	return nil
}

// Err tells why a call ended.
func (m *meter) Err() error {
	if m.fault == nil {
		return nil
	}
	return m.fault
}

// Value has nothing to tell.
func (m *meter) Value(any) any { return nil }

// look compares the clock, the context and the count with their limits.
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

// fail remembers the first limit that was passed, and where.
func (m *meter) fail(kind Kind, message string) {
	if m.fault == nil {
		m.fault = &Error{Kind: kind, Function: m.vm.current, Message: message}
		for level := range 4 { // over our own functions, to the line that called them
			if module, line, _ := splitPosition(m.vm.state.Where(level)); module != "" {
				m.fault.Module, m.fault.Line = module, line
				break
			}
		}
	}
	m.until = 0
}

// stop ends the call for passing a limit. It does not return.
func (m *meter) stop(kind Kind, message string) {
	m.fail(kind, message)
	m.check()
}

// check raises the fault that a look has found.
func (m *meter) check() {
	if m.fault != nil {
		panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: lua.LString(m.fault.Message), StackTrace: noTrace})
	}
}

// noTrace stands for the description of the stack that the interpreter would make for each error: it has a line for each tail
// call there ever was, which is millions in a loop made of them.
const noTrace = "-"

func quietly(L *lua.LState) {
	panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: L.Get(-1), StackTrace: noTrace})
}

// quiet calls its first argument with the others, and has errors in it raised without a description of the stack.
func quiet(L *lua.LState) int {
	L.Panic = quietly // PCall, which calls quiet, puts the old one back
	L.Call(L.GetTop()-1, lua.MultRet)
	return L.GetTop()
}

// work pays for n steps of a library function, each about as long as an instruction.
func (m *meter) work(n int) {
	if m.until -= int64(n); m.until <= 0 {
		m.instructions += m.until // what is over the look's own share
		m.look()
		m.check()
	}
}

// clock pays for something slow: the clock is looked at in any case.
func (m *meter) clock() {
	m.look()
	m.check()
}

// pay pays for n bytes that are made.
func (m *meter) pay(n int64) {
	m.made += n
	if m.bytes -= n; m.bytes < 0 {
		m.stop(Memory, fmt.Sprintf("more than %d bytes made in a call", m.vm.limits.Memory))
	}
}

// afford makes sure before a string of n bytes is made that it may be, and pays for it.
func (m *meter) afford(n int) {
	if n > m.vm.limits.String || n < 0 {
		m.stop(Memory, fmt.Sprintf("a string of %d bytes, at most %d are allowed", n, m.vm.limits.String))
	}
	m.pay(int64(n) + sizeString)
	m.work(n >> 6) // copying moves some 64 bytes in the time of an instruction
}

// text pays for a string and makes a value of it.
func (m *meter) text(s string) lua.LValue {
	m.afford(len(s))
	return lua.LString(s)
}

// What the interpreter takes for a value, measured on 64 bits and rounded up. A table's maps come with 32 places each.
const (
	sizeString  = 48
	sizeTable   = 3 << 10
	sizeElement = 48
	sizeEntry   = 192
	sizeClosure = 192
	sizeUpvalue = 72
)

// sweep measures what the plugin keeps, when it has made a quarter of what it may keep since the last time, so that the cost
// is in proportion to what is made.
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
		v.dead = &Error{Kind: Memory, Function: v.current, Message: fmt.Sprintf("%d bytes kept after a call, at most %d are allowed", w.bytes, v.limits.Retained)}
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
		if len(x) < 64 { // counted with what holds it; longer ones once, however often they are held
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
		// The interpreter never forgets a key, only its value: a table that is a set of things seen would grow for ever.
		fresh.Metatable = x.Metatable
		*x = *fresh
	}
}
