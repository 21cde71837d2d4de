package watch

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// maxCasts bounds the listing of a folder: the newest casts of it.
	maxCasts = 1000
	// maxScan bounds how many files of a folder are examined.
	maxScan = 20_000
)

// A recording is a recording that could be played.
type recording struct {
	ID         string    `json:"id"` // "server:" and the server's name for it, or "cast:" and the file's
	Name       string    `json:"name"`
	Session    string    `json:"session,omitempty"`
	Format     string    `json:"format"`
	Bytes      int64     `json:"bytes"`
	DurationMS int64     `json:"duration_ms,omitempty"` // 0: not known before it is opened
	State      string    `json:"state,omitempty"`
	Modified   time.Time `json:"modified,omitzero"`
	Refused    string    `json:"refused,omitempty"` // why it cannot be played
}

// A serverRecording is one as session.record_list reports it.
type serverRecording struct {
	Recording  string `json:"recording"`
	Session    string `json:"session"`
	Path       string `json:"path"`
	Format     string `json:"format"`
	Bytes      int64  `json:"bytes"`
	DurationMS int64  `json:"duration_ms"`
	State      string `json:"state"`
}

func (p *page) serverRecordings(ctx context.Context) ([]serverRecording, error) {
	var r struct {
		Recordings []serverRecording `json:"recordings"`
	}
	err := p.native.Call(ctx, "session.record_list", struct{}{}, &r)
	return r.Recordings, err
}

// kept lists the server's recordings, finished or in progress, newest first.
func (p *page) kept(ctx context.Context) ([]recording, error) {
	found, err := p.serverRecordings(ctx)
	var all []recording
	for _, x := range slices.Backward(found) {
		r := recording{
			ID: "server:" +
				x.Recording, Name: p.server.Hide.String(filepath.Base(x.Path)), Session: x.Session,
			Format: x.Format, Bytes: x.Bytes, DurationMS: x.DurationMS, State: x.State,
		}
		switch {
		case !strings.HasPrefix(x.Format, "asciicast"):
			r.Refused = "only asciicasts are played"
		case !filepath.IsAbs(x.Path):
			r.Refused = "its path is relative to the server's folder"
		}
		all = append(all, r)
	}
	return all, err
}

// listCasts lists the folder's casts, newest first.
func (s *server) listCasts() ([]recording, error) {
	dir, err := s.casts.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxScan)
	var all []recording
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".cast" {
			continue
		}
		info, err := s.casts.Stat(e.Name()) // follows links within the folder
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		all = append(all, recording{
			ID: "cast:" +
				e.Name(), Name: s.Hide.String(strings.TrimSuffix(e.Name(), ".cast")),
			Format: "asciicast", Bytes: info.Size(), Modified: info.ModTime().UTC(),
		})
	}
	slices.SortFunc(all, func(a, b recording) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.Name, b.Name))
	})
	if errors.Is(err, os.ErrClosed) || len(entries) > 0 {
		err = nil // io.EOF of an empty folder, or a folder with too many files
	}
	return all[:min(len(all), maxCasts)], err
}

// find opens a recording by its id. It opens only regular files: a FIFO would block the page.
func (p *page) find(ctx context.Context, id string) (*os.File, error) {
	where, name, _ := strings.Cut(id, ":")
	switch {
	case where == "cast" && p.server.casts != nil && filepath.Ext(name) == ".cast" &&
		!strings.ContainsAny(name, `/\`):
		info, err := p.server.casts.Stat(name)
		if err == nil && info.Mode().IsRegular() {
			return p.server.casts.Open(name)
		}
	case where == "server" && p.native != nil:
		found, err := p.serverRecordings(ctx)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(found, func(r serverRecording) bool { return r.Recording == name })
		if i < 0 || !filepath.IsAbs(found[i].Path) {
			break
		}
		// While it is being recorded it has another name, and is a valid prefix.
		for _, path := range []string{found[i].Path, found[i].Path + ".part"} {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return os.Open(path)
			} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, &problem{"not_a_recording", p.server.Hide.String(err.Error())}
			}
		}
	}
	return nil, &problem{"not_a_recording", "the recording is gone"}
}
