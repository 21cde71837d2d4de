package record

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/internal/lanes"
)

// Events of every kind and length come back as they were, in whichever chunk they are, and from
// copies.
func TestEventsAreKept(t *testing.T) {
	const n = 3*chunkEvents + 7
	var b strings.Builder
	b.WriteString(`{"version":2,"width":80,"height":24}` + "\n")
	want := make([]Event, n)
	for i := range want {
		e := Event{At: time.Duration(i) * time.Second, Kind: EventOutput, Text: strings.Repeat("é", i%5)}
		switch i % 7 {
		case 3:
			e = Event{At: e.At, Kind: EventResize, Rows: i%24 + 1, Cols: i%80 + 1}
			e.Text = fmt.Sprintf("%dx%d", e.Cols, e.Rows)
		case 5:
			e = Event{At: e.At, Kind: EventExit, Exit: i % 256, Text: fmt.Sprint(i % 256)}
		}
		want[i] = e
		fmt.Fprintf(&b, "[%d,%q,%q]\n", i, string(rune(e.Kind)), e.Text)
	}
	r := load(t, []byte(b.String()))
	if got := slices.Collect(r.Events()); !slices.Equal(got, want) || r.Len() != n {
		t.Fatalf("%d events, want %d", len(got), n)
	}
	half := r.LimitIdle(time.Second / 2)
	for _, i := range []int{0, 1, chunkEvents - 1, chunkEvents, n - 1} {
		w := want[i]
		if got := r.Event(i); got != w {
			t.Errorf("event %d: %+v, want %+v", i, got, w)
		}
		if w.At /= 2; half.Event(i) != w {
			t.Errorf("event %d: %+v, want %+v", i, half.Event(i), w)
		}
	}
}

// The number of events is bounded, and each is kept in little more than what it says.
func TestManyEvents(t *testing.T) {
	n := lanes.Few(200_000, 20_000)
	line := []byte(`[0,"o","x"]` + "\n")
	data := append([]byte(`{"version":2,"width":80,"height":24}`+"\n"), bytes.Repeat(line, n)...)
	before := heap()
	r, err := loadSome(bytes.NewReader(data), n)
	must(t, err)
	if each := (heap() - before) / int64(n); each > 24 {
		t.Errorf("an event of one character takes %d bytes", each)
	}
	if r.Len() != n {
		t.Errorf("%d events", r.Len())
	}
	var ce *CastError
	_, err = loadSome(bytes.NewReader(data), n-1)
	if !errors.Is(err, picture.ErrTooLarge) || !errors.As(err, &ce) || ce.Line != n+1 {
		t.Errorf("%v", err)
	}
}

// Sizes that follow each other are all applied in a usual recording, and only the last of them in
// one that resizes without end; one in which something is written between is refused.
func TestEndlessResizes(t *testing.T) {
	cast := func(pairs int, between string) *Recording {
		head := `{"version":2,"width":1000,"height":1000}` + "\n" + `[0,"o","first line\r\nsecond"]` + "\n"
		pair := `[1,"r","2x2"]` + "\n" + `[1,"m","x"]` + "\n" + between + `[1,"r","1000x999"]` + "\n" + between
		return load(t, []byte(head+strings.Repeat(pair, pairs)+`[1,"r","700x500"]`+"\n"))
	}
	few := cast(2, "")
	p := NewReplay(few)
	for {
		if _, ok := p.Step(); !ok {
			break
		}
	}
	must(t, p.Err())
	if d := diffScreens(p.Screen(), at(t, few, time.Hour)); d != "" {
		t.Errorf("two resizes, step by step and at once: %s", d)
	}
	began := time.Now()
	if s := at(t, cast(15_000, ""), time.Hour); s.Rows != 500 || s.Cols != 700 {
		t.Errorf("%d rows and %d columns", s.Rows, s.Cols)
	}
	if d := time.Since(began); d > time.Minute { // it would take several, and takes a second
		t.Errorf("30,000 resizes take %v", d)
	}
	p = NewReplay(cast(15_000, `[1,"o","x"]`+"\n"))
	p.size, p.resized = 1, resizeMax-1_000_000
	p.Seek(time.Hour)
	if err := p.Err(); !errors.Is(err, picture.ErrTooLarge) || !strings.Contains(err.Error(), "resized") {
		t.Errorf("%v", err)
	}
	if _, ok := p.Step(); ok {
		t.Error("it goes on")
	}
	if p.Seek(0); p.Err() != nil || p.At() != 0 {
		t.Errorf("going back: %v, at %v", p.Err(), p.At())
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
