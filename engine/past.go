package engine

import (
	"bytes"
	"iter"
	"maps"
	"math"
	"slices"
	"sort"
	"sync"
	"time"
	"unsafe"

	"github.com/ptywright/ptywright/engine/vt"
)

const (
	// keyframeEvery is how much text lies between two keyframes: what has to be parsed for one view
	// of the past takes well under a millisecond.
	keyframeEvery = 64 << 10
	// keyframePause is within what time that much text is a flood. Then half as much again lies
	// between two keyframes, and keyframeFloor: a keyframe costs a pump 15 to 25 us, the parsing of
	// 64 KiB 200. So of a flood of more than 80 MB/s less may be kept, but what comes after it is
	// kept whole; and parsing what lies between two of its keyframes takes about as long.
	keyframePause = 10 * time.Millisecond
	keyframeFloor = 1250 * time.Microsecond
	// keyframeParse is how long it took to parse what lies between two keyframes, at most, with the
	// batch under way: where little output takes long, as thousands of small batches do, keyframes are
	// closer than its text asks for. Such a pump spends most of its time on reading.
	keyframeParse = 500 * time.Microsecond
	// keyframeNotes bounds what else is noted between two keyframes, and keyframeSteps the steps.
	keyframeNotes = 1 << 10
	keyframeSteps = 4 << 10
)

// A past is what a session keeps so that it can be shown as it was: the time of each step, the steps
// that are not output, and keyframes. The output itself is the
// transcript's text. A keyframe can be used as long as the transcript has what came after it. The
// session's lock protects it; what it has handed out is never modified.
type past struct {
	most   int       // bytes
	every  Offset    // between two keyframes
	base   time.Time // which times count from: the newest keyframe, or a later note's
	last   time.Time // of the last step
	offset Offset    // of the newest keyframe
	frames []*keyframe
	notes  []note
	times  stepTimes
	noted  int           // since the newest keyframe
	parsed time.Duration // what has come since then
	states int           // bytes of the keyframes
	wanted bool
}

// stepTimes are when steps were made, in microseconds after a past's base.
type stepTimes struct {
	first uint64 // sequence
	after []uint32
}

// at returns when a step was made, where times count from base.
func (t stepTimes) at(seq uint64, base time.Time) time.Time {
	return base.Add(time.Duration(t.after[seq-t.first]) * time.Microsecond)
}

// A keyframe is a session as it was after a step.
type keyframe struct {
	seq    uint64
	at     time.Time
	offset Offset
	block  uint64 // number of the block that ended last; 0: none
	state  []byte // of the terminal
	begun  []byte // of a character, which the text after offset has whole
	fold   fold   // without what the transcript and the session's blocks have
}

// A note is a step that is not output.
type note struct {
	seq   uint64
	kind  noteKind
	theme vt.Theme
	base  time.Time // of output: when it came, if that is long after
}

type noteKind uint8

const (
	noteOutput noteKind = iota // what every step is that has no note
	noteResize
	noteTheme
	noteClear
	noteRelease
	noteMarks // output with marks that were not followed
)

// newPast returns the past of a session that begins as f, at a time; nil when none is kept.
func newPast(f *fold, most int, now time.Time) *past {
	if most <= 0 || f.rec.limit == 0 {
		return nil
	}
	p := &past{most: most, every: Offset(min(keyframeEvery, max(f.rec.limit/2, 1))), base: now, last: now}
	p.frames = []*keyframe{newKeyframe(f, now)}
	p.times.first = p.frames[0].seq + 1
	p.states = p.statesSize()
	return p
}

// note notes that the step which was just made is not output.
func (p *past) note(n note) {
	if p == nil || len(p.frames) == 0 {
		return
	}
	p.notes = append(p.notes, n)
	p.noted++
	// A resize is not made again: lines may come back from the scrollback, and only the session has
	// them all.
	p.wanted = p.wanted || n.kind == noteResize || p.noted >= keyframeNotes
}

// since returns the time from base to now, as it is kept.
func (p *past) since(now time.Time) uint32 {
	return uint32(min(max(now.Sub(p.base)/time.Microsecond, 0), math.MaxUint32))
}

// before writes a keyframe when it is time, and returns when that was done. It is called before
// output is fed: only then is it known how long there was none.
func (p *past) before(f *fold, now time.Time) (begun time.Time) {
	if p == nil {
		return begun
	}
	text, pause := f.rec.end-p.offset, now.Sub(p.base)
	switch {
	case text < p.every && p.parsed >= keyframeParse, p.parsed >= keyframeFloor,
		text >= p.every && pause >= keyframePause,
		text >= p.every+p.every/2 && pause >= keyframeFloor:
		p.write(f)
	}
	return time.Now()
}

// fed follows the feeding of output, which began at begun.
func (p *past) fed(begun time.Time) {
	if p != nil {
		p.parsed += time.Since(begun)
	}
}

// step follows a step.
func (p *past) step(f *fold, now time.Time) {
	if p == nil {
		return
	}
	if p.since(now) == math.MaxUint32 {
		p.note(note{seq: f.term.Sequence(), base: now})
		p.base = now
	}
	after := p.since(now)
	p.last = p.base.Add(time.Duration(after) * time.Microsecond)
	if len(p.frames) == 0 {
		return
	}
	p.times.after = append(p.times.after, after)
	steps := f.term.Sequence() - p.frames[len(p.frames)-1].seq
	if p.wanted || steps >= keyframeSteps || p.size() > p.most {
		p.write(f)
	}
}

// write writes a keyframe of the last step, and drops what is too old or too much. An eighth of the
// bound is left for what comes until the next one.
func (p *past) write(f *fold) {
	k := newKeyframe(f, p.last)
	p.base, p.offset, p.noted, p.parsed, p.wanted = k.at, k.offset, 0, 0, false
	oldest, _ := f.rec.value().Bounds()
	drop := 0
	for drop < len(p.frames) && !p.frames[drop].usable(oldest, f.seqs.first) {
		drop++
	}
	frames := append(append(make([]*keyframe, 0, len(p.frames)-drop+1), p.frames[drop:]...), k)
	for {
		p.keep(frames, k.seq)
		if len(frames) == 0 || p.size() <= p.most-p.most/8 {
			return
		}
		frames = slices.Clone(frames[1:])
	}
}

// keep keeps keyframes, and what came after the first of them, up to a sequence.
func (p *past) keep(frames []*keyframe, newest uint64) {
	first := newest
	if len(frames) > 0 {
		first = frames[0].seq
	}
	n := sort.Search(len(p.notes), func(i int) bool { return p.notes[i].seq > first })
	p.frames, p.notes = frames, slices.Clone(p.notes[n:])
	drop := min(first+1-p.times.first, uint64(len(p.times.after)))
	p.times.after = slices.Clone(p.times.after[drop:])
	p.times.first = first + 1
	p.states = p.statesSize()
}

// size is what is kept, in bytes.
func (p *past) size() int {
	if p == nil {
		return 0
	}
	return p.states + cap(p.notes)*int(unsafe.Sizeof(note{})) + cap(p.times.after)*4
}

// statesSize is what the keyframes take, in bytes. What several have in common counts once.
func (p *past) statesSize() int {
	n := cap(p.frames) * int(unsafe.Sizeof((*keyframe)(nil)))
	var before *keyframe
	for _, k := range p.frames {
		n += k.size(before)
		before = k
	}
	return n
}

// states are written into one of these, and then copied: most are a tenth of the largest.
var stateBuffers = sync.Pool{New: func() any { return new([]byte) }}

func newKeyframe(f *fold, now time.Time) *keyframe {
	k := bareKeyframe(f, now)
	if k.seq > 0 { // at the beginning it is cheaper to have it made
		b := stateBuffers.Get().(*[]byte)
		*b = f.term.AppendScreenState((*b)[:0])
		k.state = bytes.Clone(*b)
		stateBuffers.Put(b)
	}
	return k
}

// bareKeyframe is newKeyframe without the terminal.
func bareKeyframe(f *fold, now time.Time) *keyframe {
	k := &keyframe{seq: f.term.Sequence(), at: now, offset: f.rec.end, fold: *f,
		begun: bytes.Clone(f.rec.split[:f.rec.nsp])}
	if b := f.blocks.newest(); b != nil {
		k.block = b.Number
	}
	k.fold.term, k.fold.rec, k.fold.past, k.fold.marks = nil, nil, nil, nil
	k.fold.seqs, k.fold.blocks = sequenceLog{}, f.blocks.bare()
	return k
}

// size is what k takes, in bytes, beside the keyframe before it, if there is one.
func (k *keyframe) size(before *keyframe) int {
	n := int(unsafe.Sizeof(*k)) + cap(k.state) + cap(k.begun)
	b := &k.fold.blocks
	n += len(b.said) + len(b.command) + 2*int(unsafe.Sizeof(vt.Position{}))
	if b.running != nil {
		n += int(unsafe.Sizeof(*b.running)) + len(b.running.Command)
	}
	for i, r := range [...]*Reports{&k.fold.reports, &k.fold.latest} {
		var o Reports
		if before != nil {
			o = *[...]*Reports{&before.fold.reports, &before.fold.latest}[i]
		}
		n += r.size(o)
	}
	return n
}

// size is what r takes beside o, in bytes.
func (r *Reports) size(o Reports) (n int) {
	if r.Progress != o.Progress {
		n += int(unsafe.Sizeof(*r.Progress))
	}
	if s := r.Shell; s != o.Shell && s != nil {
		n += int(unsafe.Sizeof(*s)) + len(s.Command) + len(s.Dir)
	}
	if s := r.Status; s != o.Status && s != nil {
		n += int(unsafe.Sizeof(*s)) + len(s.State) + len(s.App) + len(s.Kind) + len(s.Message)
	}
	if c := r.Clipboard; c != o.Clipboard && c != nil {
		n += int(unsafe.Sizeof(*c)) + len(c.Text)
	}
	return n
}

// usable reports whether everything after k is known, where the transcript begins at oldest and the
// sequence log at first.
func (k *keyframe) usable(oldest Offset, first uint64) bool {
	return k.offset >= oldest && k.seq+1 >= first
}

// Kept returns the oldest sequence that [Session.At] can show.
func (s *Session) Kept() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keptFrom()
}

// keptFrom is Kept with mu held.
func (s *Session) keptFrom() uint64 {
	if frames := s.keyframes(); len(frames) > 0 {
		return frames[0].seq
	}
	return s.term.Sequence()
}

// keyframes returns those that can be used.
func (s *Session) keyframes() []*keyframe {
	if s.past == nil {
		return nil
	}
	oldest, _ := s.rec.value().Bounds()
	frames := s.past.frames
	for len(frames) > 0 && !frames[0].usable(oldest, s.seqs.first) {
		frames = frames[1:]
	}
	return frames
}

// At returns the session as it was after the step with a sequence: the last view that had it. At of
// the view is when that step was made. What only a live session knows is empty: Secret, Keys,
// Lease and Typed. The scrollback may have fewer lines, the transcript begins no earlier than
// today's, and a mark of it that was set again is where it is today. The calling goroutine parses
// 96 KiB of output at most, or in a flood what took the session 1.25 ms, and one read more. The
// error is a *[PastError].
func (s *Session) At(seq uint64) (*View, error) {
	r, err := s.replay(seq, seq, false)
	if err != nil {
		return nil, err
	}
	var last *View
	for v := range r.views(seq) {
		last = v
	}
	return last, nil
}

// Past yields the views of sequences greater than from, up to to, in order, each as [Session.At]
// gives it, and before each those of moments within its output: what the program has drawn and
// wiped with one write is in one of them. Those are of the screen alone: the rest is as the step
// began. It begins at [Session.Kept] when what came before is gone: then its first sequence is
// greater than from+1. It ends at the sequence that is the newest when it is called.
func (s *Session) Past(from, to uint64) iter.Seq[*View] {
	return func(yield func(*View) bool) {
		s.mu.Lock()
		from, to := from, min(to, s.term.Sequence()) // the iterator may be used again
		if kept := s.keptFrom(); from < kept {
			from = max(kept, 1) - 1
		}
		s.mu.Unlock()
		if from >= to {
			return
		}
		r, err := s.replay(from+1, to, true)
		if err != nil { // it is gone meanwhile
			if gone := err.(*PastError); gone.Kept > from+1 && gone.Kept <= to {
				s.Past(gone.Kept-1, to)(yield)
			}
			return
		}
		r.views(from + 1)(yield)
	}
}

// A replay shows a session again as it was, in the goroutine that asks. It shares with the session
// only what is never modified.
type replay struct {
	fold
	session    *Session
	seq        uint64      // of the step that was made last
	frames     []*keyframe // of later steps
	to         uint64
	transcript Transcript
	log        sequenceLog
	times      stepTimes
	notes      []note
	done       []Block
	block      uint64    // of the keyframe
	begun      []byte    // of the keyframe, until its character is whole
	end        Offset    // of the transcript, now
	base       time.Time // which the log's times count from, now
	live       *View     // when to is the newest sequence: the view of that
	moments    bool      // are shown, too
}

// replay returns one that can show the sequences of first to last. Without a terminal it shows only
// the newest.
func (s *Session) replay(first, last uint64, moments bool) (*replay, error) {
	s.mu.Lock()
	newest, frames := s.term.Sequence(), s.keyframes()
	r := &replay{session: s, moments: moments}
	i := sort.Search(len(frames), func(i int) bool { return frames[i].seq > first })
	if moments && i > 1 && frames[i-1].seq == first { // the step itself is made again, for its moments
		i--
	}
	alone := first == last && last == newest && (!moments || i == 0)
	if !alone && (last > newest || i == 0) {
		defer s.mu.Unlock()
		return nil, &PastError{Sequence: first, Kept: s.keptFrom(), Newest: newest}
	}
	r.take(last)
	s.mu.Unlock()
	if !alone {
		r.begin(frames[i-1])
	}
	return r, nil
}

// take takes what the session has for steps up to one, with its mu held.
func (r *replay) take(to uint64) {
	s := r.session
	r.to, r.transcript, r.log, r.done = to, s.rec.value(), s.seqs, s.blocks.done
	r.frames, r.live = s.keyframes(), nil
	if s.past != nil {
		r.notes, r.times = s.past.notes, s.past.times
	}
	if to == s.term.Sequence() {
		r.live = s.newest()
	}
}

// begin goes to a keyframe.
func (r *replay) begin(k *keyframe) {
	r.load(k)
	r.seq = k.seq
}

// newest returns the view of the newest sequence, with mu held.
func (s *Session) newest() *View {
	v := *s.current()
	v.Secret, v.Keys, v.Typed, v.Lease, v.Past = false, false, Typed{}, nil, true
	v.session = nil
	if v.At = v.Changed; s.past != nil {
		v.At = s.past.last
	}
	return &v
}

// views yields the views from sequence first on.
func (r *replay) views(first uint64) iter.Seq[*View] {
	return func(yield func(*View) bool) {
		switch {
		case r.term == nil || r.live != nil && r.seq == r.to:
			yield(r.live)
			return
		case r.seq >= first && !yield(r.view(r.base)):
			return
		}
		for r.seq < r.to {
			var show func(*View) bool
			if r.moments && r.seq+1 >= first {
				show = yield
			}
			at, goesOn := r.step(show)
			switch {
			case !goesOn:
				return
			case r.seq < first:
			case r.live != nil && r.seq == r.to:
				yield(r.live)
			case !yield(r.view(at)):
				return
			}
		}
	}
}

// load makes the replay what a keyframe was.
func (r *replay) load(k *keyframe) {
	if k.state == nil {
		r.adopt(k, r.session.newTerminal())
		return
	}
	t, err := vt.Load(k.state)
	if err != nil {
		panic(err) // we wrote it
	}
	r.adopt(k, t)
}

// adopt makes the replay what a keyframe was, with its terminal.
func (r *replay) adopt(k *keyframe, t *vt.Terminal) {
	r.fold = k.fold
	r.term, r.blocks, r.block = t, k.fold.blocks.bare(), k.block
	r.begun, r.end, r.base = k.begun, k.offset, k.at
}

// step makes the next step again, and returns when it was made. Its moments are shown to show, if
// there is one, as long as that returns true; goesOn is false when it did not.
func (r *replay) step(show func(*View) bool) (at time.Time, goesOn bool) {
	seq := r.seq + 1
	for len(r.frames) > 0 && r.frames[0].seq < seq {
		if r.frames[0].seq == r.seq { // it may have been written when r was there
			r.base = r.frames[0].at
		}
		r.frames = r.frames[1:]
	}
	key := len(r.frames) > 0 && r.frames[0].seq == seq
	if key {
		r.base = r.frames[0].at
	}
	at, goesOn = r.base, true
	if !key {
		at = r.times.at(seq, at)
	}
	r.marks = nil
	n := note{}
	for ; len(r.notes) > 0 && r.notes[0].seq <= seq; r.notes = r.notes[1:] {
		switch {
		case r.notes[0].seq < seq:
		case r.notes[0].base.IsZero():
			n = r.notes[0]
		default:
			r.base = r.notes[0].base
			at = r.base
		}
	}
	switch n.kind {
	case noteResize: // it has its keyframe
		r.load(r.frames[0])
	case noteMarks:
		r.apply(r.term.Feed(r.text(seq)), at, 0)
	case noteTheme:
		r.setTheme(n.theme, at)
	case noteClear:
		r.clear(at)
	case noteRelease:
		r.release(at)
	default:
		if show == nil {
			r.apply(r.term.Feed(r.text(seq)), at, 0)
			break
		}
		before := r.view(at)
		r.moment = func(s *vt.Screen) {
			goesOn = goesOn && show(momentOf(before, s, at))
		}
		e, _ := r.feedMoments(r.text(seq))
		r.moment = nil
		r.apply(e, at, 0)
	}
	r.seq, r.end = seq, r.log.at(seq)
	return at, goesOn
}

// text is what is to be fed for a step.
func (r *replay) text(seq uint64) []byte {
	oldest, _ := r.transcript.Bounds()
	return r.whole(r.transcript.text[r.end-oldest : r.log.at(seq)-oldest])
}

// whole returns what is to be fed of a step's text: a keyframe's terminal has the beginning of the
// character that was under way.
func (r *replay) whole(text []byte) []byte {
	if len(r.begun) == 0 || len(text) == 0 {
		return text
	}
	rest, ok := bytes.CutPrefix(text, r.begun)
	if !ok { // it was cut short, and is U+FFFD
		if rest = text[len(replacement):]; len(rest) == 0 {
			rest = []byte{0} // shows nothing, and ends it
		}
	}
	r.begun = nil
	return rest
}

// view is the session's view after the step that was made last, at a time.
func (r *replay) view(at time.Time) *View {
	v := r.fold.view()
	v.Session, v.At, v.Past, v.Marked = r.session.id, at, true, r.shell != nil && r.shell.word != ""
	end := r.end
	oldest, _ := r.transcript.Bounds()
	v.Transcript = r.transcript
	v.Transcript.text, v.Transcript.end = r.transcript.text[:end-oldest:end-oldest], end
	v.Transcript.marks = maps.Clone(r.transcript.marks)
	maps.DeleteFunc(v.Transcript.marks, func(_ string, at Offset) bool { return at > end })
	number := r.block
	if v.Block != nil {
		number = v.Block.Number
	}
	// The session's own has what was printed before the keyframe, too.
	i := sort.Search(len(r.done), func(i int) bool { return r.done[i].Number >= number })
	if i < len(r.done) && r.done[i].Number == number {
		v.Block = &r.done[i]
	}
	return &v
}

// newTerminal returns the terminal that the session begins with.
func (s *Session) newTerminal() *vt.Terminal {
	return vt.New(int(s.config.Size.Rows), int(s.config.Size.Cols), vt.Options{
		Scrollback: s.config.Scrollback, ProgramStatus: s.config.ProgramStatus,
		Theme: s.config.Theme, Version: s.engine.opts.Version,
	})
}
