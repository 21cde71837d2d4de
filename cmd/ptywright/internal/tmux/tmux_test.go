package tmux

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/protocol/client"
)

// sample is a server with one session of two windows.
func sample() *tmux {
	w, v := &window{Number: 3, Index: 1, Name: "one", Given: true, Pane: 4, Of: "s1"}, &window{Number: 5, Index: 2, Name: "two", Given: true, Pane: 6, Of: "s2"}
	x := &session{Number: 2, Name: "work", Windows: []*window{w, v}, Active: 3, Created: 1_000_000_000}
	return &tmux{
		state: &state{Sessions: []*session{x}},
		live:  map[string]remote.Info{"s1": {Info: client.Info{Rows: 24, Cols: 80}}, "s2": {Info: client.Info{Rows: 24, Cols: 80}}},
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  [][]string
	}{
		{[]string{"a", "b"}, [][]string{{"a", "b"}}},
		{[]string{"a", ";", "b"}, [][]string{{"a"}, {"b"}}},
		{[]string{"a;", "b"}, [][]string{{"a"}, {"b"}}},
		{[]string{"a", "x;", "b", ";"}, [][]string{{"a", "x"}, {"b"}}},
		{[]string{"send", `x\;`}, [][]string{{"send", "x;"}}},
		{[]string{"send", "; tmux wait -S done"}, [][]string{{"send", "; tmux wait -S done"}}},
		{[]string{";"}, nil},
		{nil, nil},
	} {
		if got := split(c.words); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %q, expected %q", c.words, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	a, err := parse("x", "dt:s:", []string{"-dtone", "-s", "two", "-t=three", "word", "-d"})
	if err != nil || !a.has('d') || a.get('t') != "=three" || a.get('s') != "two" || !slices.Equal(a.rest, []string{"word", "-d"}) {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = parse("x", "l", []string{"-l", "--", "-x"}); err != nil || !slices.Equal(a.rest, []string{"-x"}) {
		t.Errorf("%+v, %v", a, err)
	}
	for _, words := range [][]string{{"-q"}, {"-t"}, {"-:"}} {
		if _, err := parse("x", "t:", words); err == nil {
			t.Errorf("%q is taken", words)
		}
	}
}

// TestTableIsOfTmux: each command is found by its names, and short names are of one command only.
func TestTableIsOfTmux(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range commands() {
		for _, name := range []string{s.name, s.short} {
			if name == "" {
				continue
			}
			if found, err := lookup(name); err != nil || found.name != s.name || seen[name] {
				t.Errorf("%s is %v, %v", name, found, err)
			}
			seen[name] = true
		}
		if (s.run == nil) == (s.why == "") {
			t.Errorf("%s does nothing and does not say why", s.name)
		}
	}
}

// TestKeysAreKnown: what send-keys sends as a key is one that ptywright knows.
func TestKeysAreKnown(t *testing.T) {
	for name := range named() {
		for _, mods := range []string{"", "C-", "M-", "S-", "C-M-", "C-S-M-"} {
			a := action(mods + strings.ToUpper(name))
			if a.Type == "text" && name != "space" {
				t.Errorf("%s%s is typed as %q", mods, name, a.Value)
			}
			if a.Type != "key" {
				continue
			}
			if _, err := vt.ParseKey(a.Value.(string)); err != nil {
				t.Errorf("%s%s: %v", mods, name, err)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	m := sample()
	x := m.state.Sessions[0]
	for text, want := range map[string]string{
		"#{session_name}:#{window_index}.#{pane_id}":                    "work:1.%4",
		"#{?window_active,yes,no}":                                      "yes",
		"#{?no_such,yes,#{?window_active,inner,b}}":                     "inner",
		"#{==:#{window_name},one}#{!=:a,a}":                             "10",
		"#{m:w*,#{session_name}}":                                       "1",
		"#{=2:session_name}|#{=-2:session_name}|#{=/2/..:session_name}": "wo|rk|wo..",
		"#{p6:session_name}|#{p-6:session_name}|":                       "work  |  work|",
		"#{s/w/W/:session_name}":                                        "Work",
		"##S #S #{":                                                     "#S work ",
		"#{window_layout}":                                              "",
		"#{l:#{x}}":                                                     "#{x}",
	} {
		if text == "#{window_layout}" {
			want = layout(80, 24, 4)
		}
		if got := m.expand(text, x, x.Windows[0]); got != want {
			t.Errorf("%s: %q, expected %q", text, got, want)
		}
	}
	if got := layout(80, 24, 0); got != "b25d,80x24,0,0,0" { // as tmux has it
		t.Errorf("layout: %s", got)
	}
}

// FuzzFormat: no format panics or goes on for ever.
func FuzzFormat(f *testing.F) {
	for _, text := range []string{"#{?a,b}", "#{==:#{#{", "#{s/(/x/:session_name}", "#{=999999999999:S}", "#{p-99999999:S}", "#{E:#{E:#{session_name}}}", "#{?,,,}", "#,#}##"} {
		f.Add(text)
	}
	m := sample()
	x := m.state.Sessions[0]
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "history_size") || strings.Contains(text, "cursor") || strings.Contains(text, "alternate") || strings.Contains(text, "keypad") {
			t.Skip("it asks the server")
		}
		m.expand(text, x, x.Windows[0])
	})
}

// FuzzTarget: no target panics, and what is found belongs together.
func FuzzTarget(f *testing.F) {
	for _, text := range []string{"work", "=work:1.0", "$2", "@5", "%6", "%", "$", "work:^", ":.0", "..", "::", "{last}", "work:two.%6", "[", "=", "@"} {
		f.Add(text)
	}
	m := sample()
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []string{ofSession, ofWindow, ofPane} {
			if x, w, err := m.target(text, kind); err == nil && !slices.Contains(x.Windows, w) {
				t.Errorf("%q as %s: window %d is not one of session %s", text, kind, w.Number, x.Name)
			}
		}
	})
}

// TestChangesOfStyle: what is written to come from one style to another is what a terminal takes for
// that.
func TestChangesOfStyle(t *testing.T) {
	plain := client.Style{Foreground: "default", Background: "default"}
	styles := []client.Style{plain}
	for _, set := range []func(*client.Style){
		func(s *client.Style) { s.Foreground = "idx:1" },
		func(s *client.Style) { s.Foreground, s.Bold = "idx:12", true },
		func(s *client.Style) { s.Background = "idx:200" },
		func(s *client.Style) { s.Background, s.Italic, s.Inverse = "rgb:1:2:3", true, true },
		func(s *client.Style) { s.Underline, s.UnderlineStyle = true, "curly" },
		func(s *client.Style) { s.Underline, s.UnderlineStyle, s.Strike = true, "single", true },
		func(s *client.Style) { s.Dim, s.Blink, s.Hidden, s.Overline = true, true, true, true },
	} {
		s := plain
		set(&s)
		styles = append(styles, s)
	}
	for _, from := range styles {
		for _, to := range styles {
			term := vt.New(1, 4, vt.Options{})
			term.Feed([]byte(change(plain, from) + "a" + change(from, to) + "b"))
			direct := vt.New(1, 4, vt.Options{})
			direct.Feed([]byte("a\x1b[m" + change(plain, to) + "b"))
			if got, want := term.Snapshot().Cell(0, 1), direct.Snapshot().Cell(0, 1); got != want {
				t.Errorf("%+v to %+v: %+v, expected %+v", from, to, got, want)
			}
		}
	}
}
