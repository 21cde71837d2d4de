package tmux

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/protocol/client"
)

// mostBuffers is how many buffers are kept that nobody named, as in tmux. Each holds at most
// [remote.MaxText] bytes.
const mostBuffers = 50

// keep puts text into a buffer: one of a name, which is replaced or with more made longer, or a new
// one.
func (s *state) keep(name, text string, more bool) {
	own := name == ""
	if own {
		name = "buffer" + strconv.Itoa(s.Named)
		s.Named++
	}
	if i := s.buffer(name); i >= 0 {
		if more {
			text = s.Buffers[i].Text + text
		}
		s.Buffers = slices.Delete(s.Buffers, i, i+1)
	}
	text = text[:min(len(text), remote.MaxText)]
	s.Buffers = slices.Insert(s.Buffers, 0, buffer{name, text, stamp(), !own})
	unnamed := 0
	s.Buffers = slices.DeleteFunc(s.Buffers, func(b buffer) bool {
		if !b.Given {
			unnamed++
		}
		return !b.Given && unnamed > mostBuffers
	})
}

// buffer is where a buffer is; -1: there is none of that name. "" is the newest.
func (s *state) buffer(name string) int {
	return slices.IndexFunc(s.Buffers, func(b buffer) bool { return name == "" || b.Name == name })
}

// named is the buffer of -b, or the newest. The error is tmux's.
func (t *tmux) named(a *args) (int, error) {
	i := t.state.buffer(a.get('b'))
	if i < 0 && a.has('b') {
		return 0, failf("no buffer %s", a.get('b'))
	}
	if i < 0 {
		return 0, failf("no buffers")
	}
	return i, nil
}

func setBuffer(_ context.Context, t *tmux, a *args) error {
	if a.has('n') {
		i, err := t.named(a)
		if err == nil {
			t.state.Buffers[i].Name, t.state.Buffers[i].Given = a.get('n'), true
		}
		return err
	}
	if len(a.rest) == 0 {
		return failf("no data specified")
	}
	t.state.keep(a.get('b'), a.rest[0], a.has('a'))
	return nil
}

func loadBuffer(_ context.Context, t *tmux, a *args) error {
	in := t.std.In
	if a.rest[0] != "-" {
		f, err := os.Open(a.rest[0])
		if err != nil {
			return failf("No such file or directory: %s", a.rest[0])
		}
		defer f.Close()
		in = f
	}
	text, err := remote.ReadText(in)
	if err != nil {
		return err
	}
	t.state.keep(a.get('b'), text, false)
	return nil
}

func showBuffer(_ context.Context, t *tmux, a *args) error {
	i, err := t.named(a)
	if err != nil {
		return err
	}
	_, err = io.WriteString(t.std.Out, t.state.Buffers[i].Text)
	return err
}

func saveBuffer(_ context.Context, t *tmux, a *args) error {
	i, err := t.named(a)
	if err != nil {
		return err
	}
	if a.rest[0] == "-" {
		_, err := io.WriteString(t.std.Out, t.state.Buffers[i].Text)
		return err
	}
	how := os.O_TRUNC
	if a.has('a') {
		how = os.O_APPEND
	}
	f, err := os.OpenFile(a.rest[0], os.O_WRONLY|os.O_CREATE|how, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(t.state.Buffers[i].Text)
	return cmp.Or(err, f.Close())
}

func deleteBuffer(_ context.Context, t *tmux, a *args) error {
	i := t.state.buffer(a.get('b'))
	if i < 0 && a.has('b') {
		return failf("unknown buffer: %s", a.get('b'))
	}
	if i < 0 {
		return failf("no buffer")
	}
	t.state.Buffers = slices.Delete(t.state.Buffers, i, i+1)
	return nil
}

func listBuffers(_ context.Context, t *tmux, a *args) error {
	for _, b := range t.state.Buffers {
		sample := strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(b.Text)
		if len(sample) > 50 {
			sample = sample[:50] + "..."
		}
		line := b.Name + ": " + strconv.Itoa(len(b.Text)) + ` bytes: "` + sample + `"`
		if a.has('F') {
			line = t.expandWith(a.get('F'), nil, nil, map[string]string{
				"buffer_name": b.Name, "buffer_size": strconv.Itoa(len(b.Text)),
				"buffer_sample": sample, "buffer_created": strconv.FormatInt(b.Created, 10),
			})
		}
		if err := t.print(line); err != nil {
			return err
		}
	}
	return nil
}

// pasteBuffer types a buffer; line feeds become Enter, or what -s says. With -p it is bracketed when
// the program asks for that.
func pasteBuffer(ctx context.Context, t *tmux, a *args) error {
	x, w, err := t.of(a, ofPane)
	if err != nil {
		return err
	}
	i := t.state.buffer(a.get('b'))
	if i < 0 && a.has('b') {
		return failf("no buffer %s", a.get('b'))
	}
	if i < 0 {
		return nil
	}
	text := t.state.Buffers[i].Text
	separator := "\r"
	if a.has('r') {
		separator = "\n"
	}
	if a.has('s') {
		separator = a.get('s')
	}
	kind := "text"
	if a.has('p') {
		screen, err := t.snapshot(ctx, w, "none", nil)
		if err != nil {
			return err
		}
		if screen.BracketedPaste {
			kind = "bracketed_paste"
		}
	}
	text = strings.ReplaceAll(text, "\n", separator)
	if err := t.typed(ctx, x, w, []client.Action{{Type: kind, Value: text}}, 1); err != nil {
		return err
	}
	if a.has('d') {
		t.state.Buffers = slices.Delete(t.state.Buffers, i, i+1)
	}
	return nil
}
