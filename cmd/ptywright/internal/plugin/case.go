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

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/internal/lazy"
)

const (
	castExt     = ".cast"
	screenExt   = ".screen"
	expectedExt = ".expected.json"
	// cursorMark stands in a .screen where the cursor is; without one the cursor is behind the last text.
	cursorMark = "▮"
	// settle is how long a recording's end is looked at further, for what a plugin says once the screen has stood still: the longest
	// that the bundled plugins ask for is three seconds.
	settle = 5 * time.Second
	// maxExpected bounds an expected.json and a .screen, in bytes: people read them.
	maxExpected = 1 << 20
)

// Expected is what a plugin has to say of a recording: the content of NAME.expected.json. What is left out is not compared.
type Expected struct {
	About string `json:"about,omitempty"` // for people
	Given *Given `json:"given,omitempty"`
	// States are the states of a .cast in their order, each as often as it began.
	States []string   `json:"states,omitempty"`
	At     []Moment   `json:"at,omitempty"`
	End    *Want      `json:"end,omitempty"` // when the screen has stood still for 5 seconds, or the program has ended
	Events []anything `json:"events,omitempty"`
}

// anything is a JSON object. Of one that is expected every member has to be there; there may be more.
type anything = map[string]any

// Given is what the text of a .screen does not tell.
type Given struct {
	Rows     int    `json:"rows,omitempty"` // 0: 24, or as many as the text has
	Cols     int    `json:"cols,omitempty"` // 0: 80, or as many as the text has
	Title    string `json:"title,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"` // the program has ended
}

// A Moment is what is expected at a time of a .cast.
type Moment struct {
	MS int64 `json:"ms"` // since the recording began
	Want
}

// Want is what is expected of a screen.
type Want struct {
	State    string          `json:"state,omitempty"`
	Rule     string          `json:"rule,omitempty"`
	Metadata anything        `json:"metadata,omitempty"` // a part of it
	Waits    map[string]bool `json:"waits,omitempty"`    // whether a wait with this matcher would end there
	Intents  []IntentWant    `json:"intents,omitempty"`
}

// IntentWant is what is expected of an intent.
type IntentWant struct {
	Intent string   `json:"intent"`
	Params anything `json:"params,omitempty"`
	// Actions are the kinds of what it would do, those of its submission last; Refused is the code with which it does nothing.
	Actions []string `json:"actions,omitempty"`
	Refused string   `json:"refused,omitempty"`
}

// A Case is a recording with what is expected of it.
type Case struct {
	Name     string
	Path     string    // of the recording
	Expected *Expected // nil: there is none yet
	rec      *record.Recording
	screen   string // of a .screen
}

// inCases is the name of a file of the cases below the plugin's folder.
func inCases(path string) string { return slashed(casesDir, filepath.Base(path)) }

// expectedPath is where what is expected stands.
func (c *Case) expectedPath() string {
	return strings.TrimSuffix(c.Path, filepath.Ext(c.Path)) + expectedExt
}

// A CaseError says what of a case cannot be read.
type CaseError struct {
	Path string
	Line int // from 1; 0 when it is not known
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

// Cases reads the cases of a plugin whose names match, by name, and the errors of those that cannot be read.
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
			faults = append(faults, &CaseError{Path: path, Err: errors.New("there is another recording of this name: call one of them otherwise")})
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
			faults = append(faults, &CaseError{Path: filepath.Join(dir, e.Name()), Err: fmt.Errorf("there is no %s%s or %s%s that it is about: remove it, or record one", name, castExt, name, screenExt)})
		}
	}
	return cases, faults
}

// caseNames are the names of the files among which the cases are.
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

// readCase reads a case of the plugin in dir; path is that of its recording, dir included.
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
		case !utf8.Valid(text):
			return nil, &CaseError{Path: path, Err: errors.New("not valid UTF-8: a .screen is what stands on the screen, without escape sequences")}
		case bytes.ContainsRune(text, '\x1b'):
			return nil, &CaseError{Path: path, Err: errors.New("it has an escape sequence in it: a .screen is plain text; for what has colours record a .cast")}
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

// check refuses what cannot be meant.
func (c *Case) check() error {
	e := c.Expected
	if c.rec != nil && e.Given != nil {
		return errors.New("given is for a .screen: a .cast tells it itself")
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

// unknownField is how the decoder says that a member is not known: as text only.
var unknownField = lazy.Regexp(`^json: unknown field ("[^"]*")$`)

// expectedError says where in an expected.json the decoder has stopped, in words that are not its own.
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
	return &CaseError{Path: path, Line: 1 + bytes.Count(text[:min(max(int(offset), 0), len(text))], []byte("\n")), Err: why}
}

// encode is an expected.json as it is written.
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
