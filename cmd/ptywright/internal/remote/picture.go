package remote

import (
	"context"
	"encoding/base64"
	"fmt"
)

// A Picture says how a screen is drawn.
type Picture struct {
	Format   string  // png, svg, html or ansi
	Theme    string  // by name; "": the session's
	FontSize float64 // pixels; 0: the server's default
	Frame    string  // none, window or poster; "": none
	Padding  int     // pixels around the cells
	Title    string  // in the frame; "": the session's
	Scale    float64 // pixels for one; 0: 1
	NoCursor bool
	Missing  func(r rune) // is told of characters that the server has no font for
	At       Moment       // of the past; none: now
	Show
}

// Draw returns a picture of a session's screen.
func (s *Server) Draw(ctx context.Context, id string, p Picture) ([]byte, error) {
	more := map[string]any{"format": p.Format}
	if p.Theme != "" {
		more["theme"] = p.Theme
	}
	if p.FontSize != 0 {
		more["font_size"] = p.FontSize
	}
	if p.Frame != "" && p.Frame != "none" {
		more["frame"] = p.Frame
	}
	if p.Padding != 0 || more["frame"] != nil {
		more["padding"] = p.Padding
	}
	if p.Title != "" {
		more["title"] = p.Title
	}
	if p.Scale != 0 && p.Scale != 1 {
		more["scale"] = p.Scale
	}
	if p.NoCursor {
		more["cursor"] = false
	}
	if p.At.Given() {
		more["at"] = &p.At
	}
	var r struct {
		Format  string   `json:"format"`
		Data    string   `json:"data"`
		Missing []string `json:"missing"`
	}
	if err := s.Call(ctx, "session.screenshot", params(id, more, p.Show), &r); err != nil {
		return nil, err
	}
	for _, text := range r.Missing {
		for _, c := range text {
			p.Missing(c)
		}
	}
	if r.Format != "png" {
		return []byte(r.Data), nil
	}
	data, err := base64.StdEncoding.DecodeString(r.Data)
	if err != nil {
		return nil, fmt.Errorf("the server's picture: %w", err)
	}
	return data, nil
}
