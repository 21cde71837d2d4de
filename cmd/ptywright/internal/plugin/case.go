package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ptywright/ptywright/engine/golden"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/internal/lazy"
)

const (
	castExt     = ".cast"
	screenExt   = ".screen"
	expectedExt = ".expected.json"
	// cursorMark marks the cursor in a .screen; without it the cursor follows the last text.
	cursorMark = "▮"
	// settle is how much longer a recording's end is played, for what a plugin reports once the
	// screen is stable: the longest that the bundled plugins ask for is three seconds.
	settle = 5 * time.Second
	// maxExpected bounds an expected.json and a .screen, in bytes: people read them.
	maxExpected = 1 << 20
)

// Expected is what a plugin should report for a recording: the content of NAME.expected.json. What
// is left out is not compared.
type Expected struct {
	About string `json:"about,omitempty"` // for people
	Given *Given `json:"given,omitempty"`
	// States are the states of a .cast in order, each as often as it began.
	States []string   `json:"states,omitempty"`
	At     []Moment   `json:"at,omitempty"`
	End    *Want      `json:"end,omitempty"` // when the screen was stable for 5 s, or the program ended
	Events []anything `json:"events,omitempty"`
}

// anything is a JSON object. Every member of an expected one must be there; there may be more.
type anything = map[string]any

// Given is what the text of a .screen does not say.
type Given struct {
	Rows     int    `json:"rows,omitempty"` // 0: 24, or more if the text has more
	Cols     int    `json:"cols,omitempty"` // 0: 80, or more if the text has more
	Title    string `json:"title,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"` // the program has ended
}

// A Moment is what is expected at one time in a .cast.
type Moment struct {
	MS int64 `json:"ms"` // since the start of the recording
	Want
}

// Want is what is expected for a screen.
type Want struct {
	State    string          `json:"state,omitempty"`
	Rule     string          `json:"rule,omitempty"`
	Metadata anything        `json:"metadata,omitempty"` // compared in part
	Waits    map[string]bool `json:"waits,omitempty"`    // whether a wait with this matcher would end there
	Intents  []IntentWant    `json:"intents,omitempty"`
}

// IntentWant is what is expected of an intent.
type IntentWant struct {
	Intent string   `json:"intent"`
	Params anything `json:"params,omitempty"`
	// Actions are the kinds of the actions it would perform, those of its submission last; Refused
	// is the code with which it does nothing.
	Actions []string `json:"actions,omitempty"`
	Refused string   `json:"refused,omitempty"`
}

// A Case is a recording and what is expected of it.
type Case struct {
	Name     string
	Path     string    // of the recording
	Expected *Expected // nil: none yet
	rec      *record.Recording
	screen   string       // of a .screen that is text alone
	golden   *golden.File // of one that is a golden screen
}

// inCases is the path of a case's file, relative to the plugin's folder.
func inCases(path string) string { return slashed(casesDir, filepath.Base(path)) }

// expectedPath is the path of the case's expected.json.
func (c *Case) expectedPath() string {
	return strings.TrimSuffix(c.Path, filepath.Ext(c.Path)) + expectedExt
}

// A CaseError says what part of a case cannot be read.
type CaseError struct {
	Path string
	Line int // from 1; 0 when not known
	Err  error
}

// Error names file and line.
func (e *CaseError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *CaseError) Unwrap() error { return e.Err }

// Cases reads the plugin's cases whose names match, sorted by name, and returns the errors of those
// that cannot be read.
func (f *Folder) Cases(match *regexp.Regexp) (cases []*Case, faults []*CaseError) {
	dir := filepath.Join(f.Dir, filepath.FromSlash(casesDir))
	entries, err := f.caseNames()
	if err != nil {
		return nil, []*CaseError{{Path: dir, Err: err}}
	}
	found := map[string]bool{}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		name := strings.TrimSuffix(e.Name(), ext)
		if ext != castExt && ext != screenExt {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if found[name] {
			faults = append(faults,
				&CaseError{Path: path,
					Err: errors.New("there is another recording of this name: call one of them otherwise")})
			continue
		}
		found[name] = true
		if match != nil && !match.MatchString(name) {
			continue
		}
		c, err := readCase(f.Dir, name, path)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		cases = append(cases, c)
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), expectedExt); ok && !found[name] {
			faults = append(faults,
				&CaseError{Path: filepath.Join(dir, e.Name()),
					Err: fmt.Errorf("there is no %s%s or %s%s that it is about: remove it, or record one", name, castExt, name, screenExt)})
		}
	}
	return cases, faults
}

// caseNames are the names of the files in the cases folder.
func (f *Folder) caseNames() ([]fs.DirEntry, error) {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, bare(err)
	}
	defer root.Close()
	switch info, err := root.Stat(casesDir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, bare(err)
	case !info.IsDir():
		return nil, errors.New("it is not a folder")
	}
	entries, err := fs.ReadDir(root.FS(), casesDir)
	return entries, bare(err)
}

// readCase reads a case of the plugin in dir; path is its recording's, including dir.
func readCase(dir, name, path string) (*Case, *CaseError) {
	c := &Case{Name: name, Path: path}
	if filepath.Ext(path) == castExt {
		file, err := openIn(dir, inCases(path))
		if err != nil {
			return nil, &CaseError{Path: path, Err: err}
		}
		defer file.Close()
		var fault *record.CastError
		c.rec, err = record.Load(file)
		switch {
		case errors.As(err, &fault):
			return nil, &CaseError{Path: path, Line: fault.Line, Err: err}
		case err != nil:
			return nil, &CaseError{Path: path, Err: err}
		}
	} else {
		text, err := readIn(dir, inCases(path))
		switch {
		case err != nil:
			return nil, &CaseError{Path: path, Err: err}
		case golden.Is(text):
			c.golden, err = golden.Parse(text)
			if fault := (*golden.SyntaxError)(nil); errors.As(err, &fault) {
				return nil, &CaseError{Path: path, Line: fault.Line, Err: fault.Err}
			}
		case !utf8.Valid(text):
			return nil,
				&CaseError{Path: path,
					Err: errors.New("not valid UTF-8: a .screen is what stands on the screen, without escape sequences")}
		case bytes.ContainsRune(text, '\x1b'):
			return nil,
				&CaseError{Path: path,
					Err: errors.New("it has an escape sequence in it: a .screen is plain text or a golden screen; for colours write a golden one, or record a .cast")}
		}
		c.screen = string(text)
	}
	at := c.expectedPath()
	text, err := readIn(dir, inCases(at))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	} else if err != nil {
		return nil, &CaseError{Path: at, Err: err}
	}
	c.Expected = &Expected{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(c.Expected); err != nil {
		return nil, expectedError(at, text, d.InputOffset(), err)
	}
	if err := c.check(); err != nil {
		return nil, &CaseError{Path: at, Err: err}
	}
	return c, nil
}

// check refuses a case that makes no sense.
func (c *Case) check() error {
	e := c.Expected
	if c.rec != nil && e.Given != nil {
		return errors.New("given is for a .screen: a .cast tells it itself")
	}
	if g := e.Given; c.golden != nil && g != nil && (g.Rows != 0 || g.Cols != 0 || g.Title != "") {
		return errors.New("given.rows, given.cols and given.title are for a .screen of text alone: a golden screen says them itself")
	}
	if c.rec == nil && (e.States != nil || e.At != nil) {
		return errors.New("states and at are for a .cast: a .screen has only an end")
	}
	if !slices.IsSortedFunc(e.At, func(a, b Moment) int { return int(a.MS - b.MS) }) {
		return errors.New("the times of at must be in order")
	}
	if g := e.Given; g != nil && (g.Rows < 0 || g.Rows > 1000 || g.Cols < 0 || g.Cols > 1000) {
		return errors.New("given.rows and given.cols are 1 to 1000")
	}
	return nil
}

// unknownField is the decoder's message for an unknown member: it has no error type.
var unknownField = lazy.Regexp(`^json: unknown field ("[^"]*")$`)

// expectedError says where in an expected.json the decoder stopped, in our own words.
func expectedError(path string, text []byte, offset int64, err error) *CaseError {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	why := err
	switch m := unknownField().FindStringSubmatch(err.Error()); {
	case errors.As(err, &kind):
		offset = kind.Offset
		why = fmt.Errorf("%s cannot be a %s", kind.Field, kind.Value)
	case errors.As(err, &syntax):
		offset = syntax.Offset
		why = fmt.Errorf("not JSON: %v", err)
	case m != nil:
		if i := bytes.Index(text, []byte(m[1])); i >= 0 {
			offset = int64(i)
		}
		why = fmt.Errorf("%s means nothing here: see docs/plugins.md for what is compared", m[1])
	}
	return &CaseError{Path: path,
		Line: 1 + bytes.Count(text[:min(max(int(offset), 0), len(text))], []byte("\n")), Err: why}
}

// encode is the text of an expected.json.
func (e *Expected) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
