package unterm

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
)

// A drawing is the file of a picture of panes.
type drawing struct {
	Path   string `json:"path"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Left   int    `json:"left"`
	Top    int    `json:"top"`
	Mode   string `json:"mode"`
	Note   string `json:"note"`
	Base64 string `json:"base64,omitempty"`
}

// The words in a picture's answer that keep it from being taken for a picture of a desktop.
const (
	pictureMode = "terminal_render"
	pictureNote = "drawn from the sessions' cells: this server has no window and sees no desktop"
)

const pngType = "image/png"

type capture struct {
	SessionID string `json:"session_id"`
	Title     string `json:"title"`
	Screen    string `json:"screen"`
	Type      string `json:"type"`
}

// capture returns the text that a pane shows.
func (s *reader) capture(at *pane) capture {
	l := s.look(at.session)
	process, _ := at.session.Foreground()
	return capture{
		SessionID: strconv.Itoa(at.number), Title: titleOf(l, at.session, process), Type: "text",
		Screen: strings.Join(rowTexts(l.Screen().Lines()), "\n"),
	}
}

// errNoPane reports that there is nothing to draw.
var errNoPane = errors.New("no session to draw: session.create starts one")

// draw draws panes; several are placed side by side.
func (s *reader) draw(panes []*pane) ([]byte, error) {
	if len(panes) == 0 {
		return nil, errNoPane
	}
	var tiles []picture.Tile
	for _, at := range panes {
		l := s.look(at.session)
		process, _ := at.session.Foreground()
		tiles = append(tiles,
			picture.Tile{Label: strconv.Itoa(at.number) + ": " + titleOf(l, at.session, process),
				Screen: l.Screen()})
	}
	if len(tiles) == 1 {
		return picture.PNG(tiles[0].Screen, picture.Options{})
	}
	data, _, _, err := picture.Tiles(tiles, picture.Options{})
	return data, err
}

// keep writes a picture to a new file below the root.
func (s *reader) keep(prefix string, data []byte, inline bool) (drawing, error) {
	size, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return drawing{}, err
	}
	p := drawing{Width: size.Width, Height: size.Height, Mode: pictureMode, Note: pictureNote}
	if p.Path, err = s.newFile("screenshots", prefix+"_"+stamp(time.Now()), ".png",
		data); err != nil {
		return drawing{}, err
	}
	if inline {
		p.Base64 = base64.StdEncoding.EncodeToString(data)
	}
	return p, nil
}

// stamp is a time as Unterm names files: to the millisecond.
func stamp(at time.Time) string {
	return strings.ReplaceAll(at.Format("20060102_150405.000"), ".", "_")
}

// newFile writes a new file, with a number after its name if the name is taken.
func (s *Server) newFile(folder, name, ext string, data []byte) (string, error) {
	dir := filepath.Join(s.opts.Root, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for %s: %w", folder, err)
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("the folder for %s is a link, which leads elsewhere: move it away",
			folder)
	}
	for n := 1; ; n++ {
		path := filepath.Join(dir, name+ext)
		if n > 1 {
			path = filepath.Join(dir, name+"_"+strconv.Itoa(n)+ext)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(path))
		}
		return path, nil
	}
}

type screenShot struct {
	Captures []capture `json:"captures"`
	Image    drawing   `json:"image"`
	Type     string    `json:"type"`
	Text     bool      `json:"text_snapshot"`
}

func captureScreen(_ context.Context, s *reader, p params) (any, error) {
	all := s.panes.all()
	data, err := s.draw(all)
	if err != nil {
		return nil, err
	}
	r := screenShot{Captures: []capture{}, Type: pngType, Text: true}
	for _, at := range all {
		r.Captures = append(r.Captures, s.capture(at))
	}
	r.Image, err = s.keep("screen", data, p.is("include_base64"))
	return r, err
}

type windowShot struct {
	SessionID string  `json:"session_id"`
	Title     string  `json:"title"`
	Screen    string  `json:"screen"`
	Image     drawing `json:"image"`
	Type      string  `json:"type"`
	Text      bool    `json:"text_snapshot"`
}

func captureWindow(_ context.Context, s *reader, p params) (any, error) {
	all := s.panes.all()
	if len(all) == 0 {
		return nil, errNoPane
	}
	title, titled := p.text("title")
	pid, numbered := p.number("pid")
	for _, at := range all {
		c := s.capture(at)
		process, _ := at.session.Foreground()
		switch {
		case titled && !strings.Contains(c.Title, title) && !strings.Contains(c.SessionID, title):
			continue
		case !titled && numbered && pid != uint64(at.session.PID()) && pid != uint64(process.PID) &&
			pid != uint64(os.Getpid()):
			continue
		}
		data, err := s.draw([]*pane{at})
		if err != nil {
			return nil, err
		}
		r := windowShot{SessionID: c.SessionID, Title: c.Title, Screen: c.Screen, Type: pngType,
			Text: true}
		r.Image, err = s.keep("window", data, p.is("include_base64"))
		return r, err
	}
	return nil, errors.New("No matching window found")
}

type selectShot struct {
	Image   drawing `json:"image"`
	Type    string  `json:"type"`
	Mode    string  `json:"mode"`
	Message string  `json:"message"`
}

func captureSelect(_ context.Context, s *reader, p params) (any, error) {
	data, err := s.draw(s.panes.all())
	if err != nil {
		return nil, err
	}
	r := selectShot{Type: pngType, Mode: "screen_fallback",
		Message: "There is nobody to select a region here: all sessions were drawn instead."}
	r.Image, err = s.keep("screen", data, p.is("include_base64"))
	return r, err
}

// captureClipboard returns the text that a program in one of the panes last put on the clipboard,
// by OSC 52. There is no other clipboard here, and a desktop's is not touched.
func captureClipboard(_ context.Context, s *reader, _ params) (any, error) {
	var last engine.Clipboard
	var by *engine.Session
	for _, at := range s.panes.all() {
		if c := at.session.View().Reports.Clipboard; c != nil && c.At.After(last.At) {
			last, by = *c, at.session
		}
	}
	switch {
	case last.Dropped == engine.ClipboardTooLong:
		return nil, errors.New("Clipboard is empty: what a program has put there by OSC 52 was too long to be kept")
	case last.Dropped != "":
		return nil, errors.New("Clipboard is empty or contains unsupported format: what a program has put there by OSC 52 was damaged")
	case last.Text == "":
		return nil, errors.New("Clipboard is empty: no program in a session of this instance has set it (OSC 52), and there is no desktop's here")
	}
	return struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}{"text", s.cleanOf(by, last.Text)}, nil
}
