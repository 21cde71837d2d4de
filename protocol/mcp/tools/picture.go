package tools

import (
	"context"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
)

const shotAbout = `Draw a session's screen: png (default; an image in the answer), or svg, html or ansi as text. Use it for colours and layout; read is cheaper for text.

{"session":"s1"}   {"session":"s1","path":"/tmp/screen.svg"}`

type shotParams struct {
	Session  string  `json:"session"`
	Format   string  `json:"format,omitempty" jsonschema:"png, svg, html or ansi; default that of the path, else png"`
	Theme    string  `json:"theme,omitempty" jsonschema:"dark or light; default the session's"`
	FontSize float64 `json:"font_size,omitempty" jsonschema:"pixels; default 15"`
	Path     string  `json:"path,omitempty" jsonschema:"file to write, or replace, instead of answering with the picture; its extension says the format; mode 0600"`
	rawAsked
}

type shotResult struct {
	status
	Format string `json:"format"`
	Bytes  int    `json:"bytes"`
	Path   string `json:"path,omitempty"`
}

// maxPicture bounds a picture that is text in an answer, in bytes: more would waste a model's
// context.
const maxPicture = 200_000

func (p *profile) screenshot(_ context.Context, _ *sdk.CallToolRequest,
	in shotParams) (*reply[shotResult], error) {
	if in.FontSize != 0 && !picture.FontSizeOK(in.FontSize) {
		return nil, bad("font_size", "expected a number from %d to %d", picture.FontSizeMin,
			picture.FontSizeMax)
	}
	o := picture.Options{FontSize: in.FontSize}
	if in.Theme != "" {
		theme, ok := vt.ParseTheme(in.Theme)
		if !ok {
			return nil, bad("theme", "expected dark or light")
		}
		o.Theme = picture.ThemeOf(theme)
	}
	format, err := picture.FormatFor(in.Format, in.Path)
	if err != nil {
		if where := (*picture.PathError)(nil); errors.As(err, &where) {
			return nil, bad("path", "%v", where)
		}
		return nil, bad("format", "%v", err)
	}
	s, err := p.session(in.Session)
	if err != nil {
		return nil, err
	}
	l := p.look(s, in.redactor())
	o.Clean = l.Clean
	data, err := picture.Draw(l.Screen(), format, o)
	if err != nil {
		return nil, fmt.Errorf("format %q: %w", format, err)
	}
	r := shotResult{status: statusOf(l), Format: format, Bytes: len(data)}
	out := &reply[shotResult]{}
	switch {
	case in.Path != "":
		if err := record.WriteFile(in.Path, data); err != nil {
			return nil, err
		}
		r.Path = in.Path
		out.text = fmt.Sprintf("%s\nWrote %d bytes to %s.", r.status.head(), len(data), in.Path)
	case format == "png":
		out.text = r.status.head()
		out.extra = []sdk.Content{&sdk.ImageContent{Data: data, MIMEType: "image/png"}}
	case len(data) > maxPicture:
		return nil, fmt.Errorf("the picture has %d bytes of text, too much for an answer: give path, and it is written there", len(data))
	default:
		out.text = string(data)
	}
	out.out = r
	return out, nil
}
