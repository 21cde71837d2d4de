package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/protocol/unterm/internal/shared"
)

// An entry is one recording in the index.
type entry struct {
	ID              string   `json:"unterm_session_id"`
	Tab             int      `json:"tab_id"`
	Project         *string  `json:"project_path"` // nil: the working directory was unknown
	Slug            string   `json:"project_slug"`
	StartedAt       string   `json:"started_at"`
	EndedAt         *string  `json:"ended_at"` // nil: it is running, or its server was killed
	BlockCount      int      `json:"block_count"`
	TotalLines      int      `json:"total_lines"`
	BytesRaw        int64    `json:"bytes_raw"`
	LogPath         string   `json:"log_path"`
	MDPath          string   `json:"md_path"`
	ExitReason      *string  `json:"exit_reason"`
	Parent          *string  `json:"parent_session_id"`
	OSC133          bool     `json:"osc133_active"`
	RedactionActive bool     `json:"redaction_active"`
	RedactionCount  int      `json:"redaction_count"`
	Traces          []string `json:"trace_ids"`
}

// Entry is one recording as session.recording_list returns it.
type Entry struct {
	SessionID   string  `json:"unterm_session_id"`
	TabID       int     `json:"tab_id"`
	ProjectPath *string `json:"project_path"`
	ProjectSlug string  `json:"project_slug"`
	StartedAt   string  `json:"started_at"`
	EndedAt     *string `json:"ended_at"`
	BlockCount  int     `json:"block_count"`
	BytesRaw    int64   `json:"bytes_raw"`
	LogPath     string  `json:"log_path"`
	MDPath      string  `json:"md_path"`
}

const (
	// mostEntries bounds the index: some years of a person's recordings. The index is rewritten at
	// the beginning and the end of each. The oldest that has ended is removed first; its files
	// stay.
	mostEntries = 4096
	// indexMax bounds its file, in bytes: several times what that many entries take.
	indexMax = 16 << 20
)

// An index is index.json. Unknown members of another program's entries are kept.
type index struct {
	items []item
}

type item struct {
	entry entry
	raw   json.RawMessage // nil: entry is new
	known bool            // raw is an entry
}

func (x *index) find(id string) (entry, bool) {
	for i := len(x.items) - 1; i >= 0; i-- {
		if it := &x.items[i]; it.known && it.entry.ID == id {
			return it.entry, true
		}
	}
	return entry{}, false
}

// put adds an entry, or replaces the one with its id.
func (x *index) put(e entry) {
	i := slices.IndexFunc(x.items, func(it item) bool { return it.known && it.entry.ID == e.ID })
	if i >= 0 {
		x.items[i] = item{entry: e, known: true}
		return
	}
	x.items = append(x.items, item{entry: e, known: true})
	for len(x.items) > mostEntries {
		i := slices.IndexFunc(x.items,
			func(it item) bool { return !it.known || it.entry.EndedAt != nil })
		x.items = slices.Delete(x.items, max(i, 0), max(i, 0)+1)
	}
}

func (x *index) remove(id string) {
	x.items = slices.DeleteFunc(x.items,
		func(it item) bool { return it.known && it.entry.ID == id })
}

func (x *index) encode() ([]byte, error) {
	raws := make([]json.RawMessage, len(x.items))
	for i, it := range x.items {
		if raws[i] = it.raw; it.raw == nil {
			data, err := json.Marshal(it.entry)
			if err != nil {
				return nil, err
			}
			raws[i] = data
		}
	}
	data, err := json.MarshalIndent(raws, "", "  ")
	return append(data, '\n'), err
}

// errCorrupt reports an index that is invalid.
var errCorrupt = errors.New("is not a list of recordings")

func decodeIndex(data []byte) (*index, error) {
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return nil, errCorrupt
	}
	x := &index{items: make([]item, len(raws))}
	for i, raw := range raws {
		it := item{raw: raw}
		it.known = json.Unmarshal(raw, &it.entry) == nil && it.entry.ID != ""
		x.items[i] = it
	}
	return x, nil
}

func (j *Journal) indexPath() string { return filepath.Join(j.o.Root, "sessions", "index.json") }

// readIndex reads the index. It is replaced as a whole, so that no lock is needed. An invalid one
// is empty here; the next writer sets it aside.
func (j *Journal) readIndex() (*index, error) {
	data, err := readSmall(j.indexPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &index{}, nil
	case err != nil && !errors.Is(err, errCorrupt):
		return nil, fmt.Errorf("read %s: %w", j.indexPath(), bare(err))
	}
	x := &index{}
	if err == nil {
		x, err = decodeIndex(data)
	}
	if err != nil {
		return &index{}, fmt.Errorf("%s %w", j.indexPath(), err)
	}
	return x, nil
}

func readSmall(path string) ([]byte, error) {
	data, err := shared.Read(path, indexMax)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return nil, errCorrupt
	}
	return data, err
}

// updateIndex changes the index, one server at a time.
func (j *Journal) updateIndex(change func(*index)) error {
	if err := os.MkdirAll(j.o.Root, 0o700); err != nil {
		return err
	}
	folder, err := openBelow(j.o.Root, []string{"sessions"})
	if err != nil {
		return err
	}
	folder.Close()
	path := j.indexPath()
	release, err := j.lock.Take(filepath.Join(j.o.Root, "sessions", "index.lock"), shared.Patience)
	if err != nil {
		return err
	}
	defer release()
	x, err := j.readIndex()
	if errors.Is(err, errCorrupt) {
		x, err = &index{}, j.setAside(path)
	}
	if err != nil {
		return err
	}
	change(x)
	data, err := x.encode()
	if err != nil {
		return err
	}
	return record.WriteFile(path, data)
}

// setAside gives a corrupt index another name.
func (j *Journal) setAside(path string) error {
	aside, err := shared.SetAside(path)
	if err != nil {
		return fmt.Errorf("set %s aside: %w", path, bare(err))
	}
	j.log.Error("the list of recordings could not be read and was set aside; a new one begins",
		"path", aside)
	return nil
}

// List returns the recordings in the index, oldest first: those of a project, by its slug or path,
// or all when project is "". A running recording has no end, nor has one whose server was killed.
func (j *Journal) List(project string) ([]Entry, error) {
	x, err := j.readIndex()
	if errors.Is(err, errCorrupt) {
		err = j.updateIndex(func(all *index) { x = all }) // sets it aside, and reports it
	}
	if err != nil {
		return nil, errors.New(j.hide(err.Error()))
	}
	list := []Entry{}
	wanted := j.hide(project)
	for _, it := range x.items {
		e := it.entry
		if !it.known ||
			project != "" && e.Slug != project &&
				(e.Project == nil || *e.Project != project && *e.Project != wanted) {
			continue
		}
		if e.Project != nil {
			shown := j.hide(*e.Project)
			e.Project = &shown
		}
		list = append(list,
			Entry{e.ID, e.Tab, e.Project, j.hide(e.Slug), e.StartedAt, e.EndedAt, e.BlockCount,
				e.BytesRaw, j.hide(e.LogPath), j.hide(e.MDPath)})
	}
	return list, nil
}
