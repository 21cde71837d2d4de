package remote

import (
	"context"
	"encoding/base64"
	"fmt"
)

// A Picture says how a screen is drawn.
type Picture struct {
	Format   string  // png, svg, html or ansi
	Theme    string  // dark or light; "": the session's
	FontSize float64 // pixels; 0: the server's default
	At       Moment  // of the past; none: now
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
	if p.At.Given() {
		more["at"] = &p.At
	}
	var r struct {
		Format string `json:"format"`
		Data   string `json:"data"`
	}
	if err := s.Call(ctx, "session.screenshot", params(id, more, p.Show), &r); err != nil {
		return nil, err
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
