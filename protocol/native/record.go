package native

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/redact"
)

type screenshotParams struct {
	sessionParams
	readParams
	atParams
	Format   string   `json:"format,omitempty" jsonschema:"png, svg, html or ansi; default that of the path, else png"`
	Path     string   `json:"path,omitempty" jsonschema:"file to write or replace, mode 0600, by its extension such a picture; default: the picture is in the answer"`
	Theme    string   `json:"theme,omitempty" jsonschema:"dark, light or that of a known theme; default the session's"`
	FontSize *float64 `json:"font_size,omitempty" jsonschema:"pixels, 6 to 128; default 15"`
	Frame    string   `json:"frame,omitempty" jsonschema:"what is around the screen: none (default), window, or poster: a window on a coloured ground"`
	Padding  *int64   `json:"padding,omitempty" jsonschema:"pixels around the text; default 0, in a window 16"`
	Title    string   `json:"title,omitempty" jsonschema:"in the bar of a window; default the session's"`
	Scale    *float64 `json:"scale,omitempty" jsonschema:"pixels for one, 1 to 4; default 1"`
	NoCursor bool     `json:"no_cursor,omitempty" jsonschema:"draw no cursor"`
}

// options reads how the picture is to look.
func (p *screenshotParams) options() (o picture.Options, err error) {
	o = picture.Options{Title: p.Title, NoCursor: p.NoCursor}
	theme, err := word("session.screenshot theme", p.Theme, "")
	if err != nil {
		return o, err
	}
	if theme != "" {
		if o.Theme, err = picture.ThemeNamed(theme); err != nil {
			return o, err
		}
	}
	frame, err := word("frame", p.Frame, string(picture.FrameNone))
	if err != nil {
		return o, err
	}
	o.Frame = picture.Frame(frame)
	padding, err := count("padding", p.Padding, int64(o.Frame.Padding()))
	if err != nil {
		return o, err
	}
	o.Padding = padding
	if o.FontSize, err = optional("font_size", p.FontSize); err != nil {
		return o, err
	}
	o.Scale, err = optional("scale", p.Scale)
	return o, err
}

type screenshotResult struct {
	Format string  `json:"format"`
	Data   *string `json:"data,omitzero" jsonschema:"base64 for png, else text"`
	Path   string  `json:"path,omitempty"`
	Bytes  int     `json:"bytes"`
	Rows   int     `json:"rows"`
	Cols   int     `json:"cols"`
	// Missing names each character once.
	Missing []string `json:"missing,omitempty" jsonschema:"png: characters that no font of the server has; they are drawn as their numbers"`

	Sequence *uint64 `json:"sequence,omitempty" jsonschema:"with at: of the screen that was drawn"`
	thenShape
}

func (c *client) sessionScreenshot(_ context.Context,
	p screenshotParams) (*screenshotResult, error) {
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	format, err := picture.FormatFor(p.Format, p.Path)
	if err != nil {
		if where := (*picture.PathError)(nil); errors.As(err, &where) {
			return nil, &paramError{path: "path", reason: "invalid_params", problem: where.Error()}
		}
		return nil, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return nil, err
	}
	v, then, err := p.view(s)
	if err != nil {
		return nil, err
	}
	l := newLook(v, p.redactor(), "none")
	o.Clean = l.Clean
	var missing []string
	o.Missing = func(c rune) {
		if !slices.Contains(missing, string(c)) && len(missing) < missingMost {
			missing = append(missing, string(c))
		}
	}
	data, err := picture.Draw(l.Screen(), format, o)
	if err != nil {
		return nil, err
	}
	r := &screenshotResult{Format: format, Bytes: len(data), Rows: l.Screen().Rows,
		Cols: l.Screen().Cols, Missing: missing, thenShape: then.shape()}
	if then != nil {
		r.Sequence = &then.Sequence
	}
	if p.Path != "" {
		r.Path = p.Path
		return r, record.WriteFile(p.Path, data)
	}
	text := string(data)
	if format == "png" {
		text = base64.StdEncoding.EncodeToString(data)
	}
	r.Data = &text
	return r, nil
}

type recordStartParams struct {
	sessionParams
	readParams
	Path      string `json:"path,omitempty" jsonschema:"file to write; it must not exist"`
	Dir       string `json:"dir,omitempty" jsonschema:"folder in which the file gets a name of its own"`
	Format    string `json:"format,omitempty" jsonschema:"asciicast-v2 (default), asciicast-v3 or markdown"`
	Input     bool   `json:"input,omitempty" jsonschema:"keep what is typed, too"`
	IdleLimit *int64 `json:"idle_limit,omitempty" jsonschema:"milliseconds: pauses are to be played no longer than this"`
	Title     string `json:"title,omitempty" jsonschema:"of the recording"`
}

type recordStartResult struct {
	Recording string `json:"recording"`
	Path      string `json:"path"`
	Format    string `json:"format"`
}

func (c *client) sessionRecordStart(_ context.Context,
	p recordStartParams) (*recordStartResult, error) {
	name, err := word("session.record_start format", p.Format, string(record.AsciicastV2))
	if err != nil {
		return nil, err
	}
	format := record.Format(name)
	switch {
	case (p.Path == "") == (p.Dir == ""):
		return nil, &protocol.ParamError{Expected: "path or dir",
			Got: map[bool]string{true: "neither", false: "both"}[p.Path == ""]}
	case p.Input && format == record.MarkdownDoc:
		return nil, &paramError{path: "input", reason: "invalid_params",
			problem: "a markdown transcript has no input: its commands are in it"}
	}
	idle, err := milliseconds("idle_limit", p.IdleLimit, 0)
	if err != nil {
		return nil, err
	}
	s, err := c.session(p.sessionParams)
	if err != nil {
		return nil, err
	}
	path := p.Path
	if path == "" {
		path = filepath.Join(p.Dir, record.FileName(s.ID(), format, time.Now()))
	}
	x, err := c.Recordings.Start(s, record.StartOptions{
		Path: path, Format: format, Title: p.Title, IdleLimit: idle, Input: p.Input,
		Redactor: p.redactor(),
	})
	if err != nil {
		return nil, err
	}
	return &recordStartResult{Recording: x.ID, Path: path, Format: string(format)}, nil
}

type recordStopParams struct {
	Recording *string `json:"recording" jsonschema:"as session.record_start returned it"`
}

type recordingInfo struct {
	Recording  string `json:"recording"`
	Session    string `json:"session"`
	Path       string `json:"path"`
	Format     string `json:"format"`
	Bytes      int64  `json:"bytes"`
	DurationMS int64  `json:"duration_ms"`
	State      string `json:"state" jsonschema:"recording, done, limit (it has reached its size) or failed"`
	Error      string `json:"error,omitempty"`
}

func infoOf(x *record.Kept) recordingInfo {
	st := x.Status()
	r := recordingInfo{
		Recording: x.ID, Session: string(x.Session), Path: st.Path, Format: string(st.Format),
		Bytes: st.Bytes, DurationMS: st.Duration.Milliseconds(),
		State: string(st.State),
	}
	if st.Err != nil {
		r.Error = redact.Default.String(st.Err.Error())
	}
	return r
}

// errNoRecording reports a recording that does not exist.
var errNoRecording = errors.New("unknown recording")

func (c *client) sessionRecordStop(_ context.Context, p recordStopParams) (recordingInfo, error) {
	if err := required("recording", p.Recording); err != nil {
		return recordingInfo{}, err
	}
	x := c.Recordings.Find(*p.Recording)
	if x == nil {
		return recordingInfo{}, errNoRecording
	}
	if err := x.Stop(); err != nil {
		return recordingInfo{}, err
	}
	return infoOf(x), nil
}

type recordListParams struct {
	Session string `json:"session,omitempty" jsonschema:"only recordings of this session"`
	hostParams
}

type recordListResult struct {
	Recordings []recordingInfo `json:"recordings"`
	awayParts
}

func (c *client) sessionRecordList(_ context.Context,
	p recordListParams) (recordListResult, error) {
	r := recordListResult{Recordings: []recordingInfo{}}
	for _, x := range c.Recordings.List() {
		if p.Session == "" || c.Engine.Resolve(engine.ID(p.Session)) == x.Session {
			r.Recordings = append(r.Recordings, infoOf(x))
		}
	}
	return r, nil
}

// missingMost bounds how many missing characters an answer names.
const missingMost = 64

// optional reads an optional number with bounds: absent is 0.
func optional(name string, given *float64) (float64, error) {
	if given == nil {
		return 0, nil
	}
	if r := ranges()[name]; !(*given >= float64(r[0]) && *given <= float64(r[1])) {
		return 0, &protocol.ParamError{Path: name,
			Expected: fmt.Sprintf("a number from %d to %d", r[0], r[1]), Got: protocol.Got(*given)}
	}
	return *given, nil
}
