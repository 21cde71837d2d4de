//go:build unix

package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// countScript counts what a page gets and draws.
const countScript = `(() => {
	window.count = { bytes: 0, messages: 0, frames: 0, longest: 0 };
	const Real = WebSocket;
	window.WebSocket = class extends Real {
		constructor(...a) {
			super(...a);
			this.addEventListener('message', (m) => { count.bytes += m.data.length; count.messages++; });
		}
	};
	let last = 0;
	const frame = (now) => { count.frames++; count.longest = Math.max(count.longest, last && now - last); last = now; requestAnimationFrame(frame); };
	requestAnimationFrame(frame);
})()`

// behindScript tells of the busiest tiles in sight which line each shows last, the oldest first.
const behindScript = `[...document.querySelectorAll('.tile')].map((t) => Math.max(...[...t.textContent.matchAll(/(\d+) some words/g)].map((m) => Number(m[1])))).filter((n) => n > 0).sort((a, b) => a - b)`

// A rate is what a page does in a second.
type rate struct {
	Bytes, Messages, Frames, Longest float64
	busy                             map[string]float64 // share of the main thread, by what it does
	traced                           traced
}

// shares are what the main thread is busy with, as the browser counts it in seconds of its own processor
// time: of all, for layout, for styles and for scripts.
var shares = []string{"TaskDuration", "LayoutDuration", "RecalcStyleDuration", "ScriptDuration"}

// rateOf measures a page for a while.
func (p *tab) rateOf(d time.Duration) (r rate) {
	p.t.Helper()
	busy := func() map[string]float64 {
		var m struct {
			Metrics []struct {
				Name  string  `json:"name"`
				Value float64 `json:"value"`
			} `json:"metrics"`
		}
		p.do("Performance.getMetrics", nil, &m)
		all := map[string]float64{}
		for _, x := range m.Metrics {
			all[x.Name] = x.Value
		}
		return all
	}
	p.do("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil)
	var took float64
	r.traced = p.trace(func() {
		p.eval(`Object.assign(count, { bytes: 0, messages: 0, frames: 0, longest: 0 })`)
		before, began := busy(), time.Now()
		time.Sleep(d)
		data, _ := json.Marshal(p.eval(`count`))
		after := busy()
		took = time.Since(began).Seconds()
		if err := json.Unmarshal(data, &r); err != nil {
			p.t.Fatal(err)
		}
		r.busy = map[string]float64{}
		for _, name := range shares {
			r.busy[name] = (after[name] - before[name]) / took
		}
	})
	for _, x := range []*float64{&r.Bytes, &r.Messages, &r.Frames} {
		*x /= took
	}
	return r
}

// A traced is what a trace of the browser says of a page.
type traced struct {
	wall float64            // share of the time in which the main thread was in a task, by the clock
	does map[string]float64 // milliseconds of each second, by the clock, by what was done
}

// String has what took most.
func (r traced) String() string {
	names := slices.SortedFunc(maps.Keys(r.does), func(a, b string) int { return cmp.Compare(r.does[b], r.does[a]) })
	var all strings.Builder
	for _, name := range names[:min(12, len(names))] {
		fmt.Fprintf(&all, " %s %.0f", name, r.does[name])
	}
	return fmt.Sprintf("main thread %.2f of the time; ms a second:%s", r.wall, all.String())
}

// trace does something while the browser keeps a trace.
func (p *tab) trace(does func()) traced {
	p.t.Helper()
	p.must(p.call("", "Tracing.start", map[string]any{"transferMode": "ReturnAsStream", "traceConfig": map[string]any{
		"recordMode":         "recordAsMuchAsPossible",
		"includedCategories": []string{"devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing"},
	}}, nil))
	p.eval(`performance.mark('measure begins')`)
	does()
	p.eval(`performance.mark('measure ends')`)
	complete := p.expect("Tracing.tracingComplete")
	p.must(p.call("", "Tracing.end", nil, nil))
	var end struct{ Stream string }
	select {
	case params := <-complete:
		p.must(json.Unmarshal(params, &end))
	case <-time.After(hang):
		p.t.Fatal("the browser keeps its trace")
	}
	var text bytes.Buffer
	for {
		var piece struct {
			Data   string
			Base64 bool `json:"base64Encoded"`
			EOF    bool
		}
		p.must(p.call("", "IO.read", map[string]any{"handle": end.Stream, "size": 1 << 20}, &piece))
		data := []byte(piece.Data)
		if piece.Base64 {
			var err error
			data, err = base64.StdEncoding.DecodeString(piece.Data)
			p.must(err)
		}
		text.Write(data)
		if piece.EOF {
			break
		}
	}
	p.must(p.call("", "IO.close", map[string]any{"handle": end.Stream}, nil))
	var all struct{ TraceEvents []traceEvent }
	p.must(json.Unmarshal(text.Bytes(), &all))
	return tracedOf(p.t, all.TraceEvents)
}

// A traceEvent is one of a trace: X has a duration. Times are in microseconds.
type traceEvent struct {
	Name, Ph string
	PID, TID int
	TS, Dur  float64
}

// tracedOf finds the thread that has set the marks, and what it did between them, with what was drawn for
// it by other threads of its process.
func tracedOf(t testing.TB, all []traceEvent) traced {
	t.Helper()
	slices.SortStableFunc(all, func(a, b traceEvent) int { return cmp.Compare(a.TS, b.TS) })
	var from, to traceEvent
	for _, e := range all {
		switch e.Name {
		case "measure begins":
			from = e
		case "measure ends":
			to = e
		}
	}
	if from.TS == 0 || to.TS <= from.TS {
		t.Fatalf("of %d events none says when the measuring began and ended", len(all))
	}
	r, until, busy := traced{does: map[string]float64{}}, from.TS, 0.0
	for _, e := range all {
		begins, ends := max(e.TS, from.TS), min(e.TS+e.Dur, to.TS)
		if e.Ph != "X" || e.PID != from.PID || ends <= begins {
			continue
		}
		switch {
		case e.TID == from.TID && strings.HasSuffix(e.Name, "RunTask"):
			busy += max(0, ends-max(begins, until)) // one may run within another
			until = max(until, ends)
		case e.TID == from.TID || e.Name == "RasterTask":
			r.does[e.Name] += (ends - begins) / 1000
		}
	}
	for name := range r.does {
		r.does[name] /= (to.TS - from.TS) / 1e6
	}
	r.wall = busy / (to.TS - from.TS)
	return r
}

// TestWatchFrameRate measures the grid of 100 sessions, 40 of which write five lines a second, beside a
// blank page of the same browser. PTYWRIGHT_BEFORE names another ptywright whose page is measured in the
// same run, by turns.
func TestWatchFrameRate(t *testing.T) {
	if os.Getenv("PTYWRIGHT_LONG") == "" {
		t.Skip("a measurement: PTYWRIGHT_LONG=1")
	}
	b := chromium(t)
	w := watchedServer(t)
	var says []func(string)
	for i := range 100 {
		path, say := fifo(t)
		w.sh(fmt.Sprintf("exec 3<>%s; exec cat <&3", path))
		if i < 40 {
			says = append(says, say)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	var written atomic.Int64 // lines of each
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			written.Store(int64(n))
			for i, say := range says {
				say(fmt.Sprintf("\x1b[3%dm%6d\x1b[m some \x1b[1mwords\x1b[m of session %d, %s", n%8, n, i, strings.Repeat("and more ", n%5)))
			}
			select {
			case <-time.After(200 * time.Millisecond):
			case <-stop:
				return
			}
		}
	}()
	defer func() { close(stop); <-stopped }()

	pages := []struct{ name, address string }{{"now", w.address}}
	if path := os.Getenv("PTYWRIGHT_BEFORE"); path != "" {
		p := ptywright(t, "watch", "--socket", w.socket)
		p.Path = path
		p.StartPiped()
		defer func() {
			_ = p.Process.Signal(syscall.SIGTERM)
			_ = p.Wait()
		}()
		pages = append(pages, struct{ name, address string }{"before", p.Stderr.Told(t, `watching at (\S+)\n`)})
	}
	const round = 8 * time.Second
	show := func(name string, blank float64, r rate) {
		t.Logf("%-18s %5.1f fps (%.2f of blank), longest %4.0f ms, %5.0f KB/s, %4.0f frames/s; main thread, layout, style, script: %.2f %.2f %.2f %.2f",
			name, r.Frames, r.Frames/blank, r.Longest, r.Bytes/1000, r.Messages,
			r.busy[shares[0]], r.busy[shares[1]], r.busy[shares[2]], r.busy[shares[3]])
		t.Logf("%-18s %s", "", r.traced)
	}
	for range 2 {
		for _, x := range pages {
			blank := func() rate {
				p := b.open("about:blank")
				defer p.close()
				p.do("Page.bringToFront", nil, nil)
				p.eval(countScript)
				return p.rateOf(round / 4)
			}
			first := blank()
			p := b.open("about:blank")
			p.do("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": countScript}, nil)
			p.size(2400, 1960, false)
			p.do("Page.bringToFront", nil, nil)
			p.do("Page.navigate", map[string]any{"url": x.address}, nil)
			p.until(`[...document.querySelectorAll('.tile')].filter((e) => e.querySelector('.row') && e.getBoundingClientRect().bottom < innerHeight).length >= 30`)
			time.Sleep(round / 4) // the first screens are drawn
			r := p.rateOf(round)
			behind, _ := json.Marshal(p.eval(behindScript))
			t.Logf("%-18s when %d lines were written the tiles show up to: %s", x.name, written.Load(), behind)
			p.eval(`location.hash = '#/session/s1'`)
			p.until(`document.querySelector('#term-paper .row')`)
			one := p.rateOf(round / 2)
			p.close()
			last := blank()
			even := (first.Frames + last.Frames) / 2
			t.Logf("%-18s %5.1f fps before, %.1f after, longest %.0f ms", "a blank page", first.Frames, last.Frames, max(first.Longest, last.Longest))
			show(x.name+", 30 tiles", even, r)
			show(x.name+", one", even, one)
		}
	}
}

// close closes the page.
func (p *tab) close() {
	_ = p.call("", "Target.closeTarget", map[string]any{"targetId": p.target}, nil)
}
