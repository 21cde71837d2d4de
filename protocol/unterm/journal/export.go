package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/engine/vt"
)

// Exported is the answer of session.export_markdown.
type Exported struct {
	SessionID  string `json:"session_id"` // of the export, always new: it is a recording's only where a log was written with it
	Path       string `json:"path"`
	Bytes      int    `json:"bytes"`
	BlockCount int    `json:"block_count"`
}

// mostScrollback bounds the export of a session without marks, in bytes, at its end: more than
// 10,000 lines usually have.
const mostScrollback = 16 << 20

// Export writes a document of a session as it is: of its recording so far if it is recorded, else
// of the commands that its shell has marked, or of its scrollback and screen.
//
// If path is not "" it is an absolute path, or one below cwd, that ends in .md. Only a document of
// this kind is replaced; a symbolic link, and a folder that is missing or a link, are refused: see
// [record.WriteFile]. Without a path, a recording is exported to sessions/export-<its id>.md below
// the root, replacing the last export; other sessions get a new document where recordings are kept,
// with its log, and it is listed.
func (j *Journal) Export(s *engine.Session, pane int, cwd, path string) (Exported, error) {
	got, err := j.export(s, pane, cwd, path)
	if err != nil {
		return Exported{}, fmt.Errorf("export pane %d: %s", pane, j.hide(err.Error()))
	}
	return got, nil
}

func (j *Journal) export(s *engine.Session, pane int, cwd, path string) (Exported, error) {
	id, now := newUUID(), time.Now().UTC()
	if path != "" {
		if !filepath.IsAbs(path) {
			if !filepath.IsAbs(cwd) {
				return Exported{},
					errors.New("'path' is relative, and where the session is is not known; give an absolute one")
			}
			path = filepath.Join(cwd, path)
		}
		if err := replaceable(path); err != nil {
			return Exported{}, err
		}
	}
	r, err := j.find(pane)
	if err == nil && !r.over() {
		e, _, err := j.entryOf(r.entryID())
		if err != nil {
			return Exported{}, err
		}
		doc, err := j.documentAt(&e)
		if err != nil {
			return Exported{}, err
		}
		if path == "" {
			path = filepath.Join(j.o.Root, "sessions", "export-"+e.ID+".md")
		}
		return j.exported(id, path, doc, &e)
	}
	if path != "" {
		reason, ended := reasonExport, stamp(now)
		e := entry{ID: id, Tab: pane, Slug: slugOf(j.hide(cwd)), StartedAt: stamp(s.Started()),
			EndedAt: &ended, ExitReason: &reason}
		if filepath.IsAbs(cwd) {
			shown := j.hide(cwd)
			e.Project = &shown
		}
		doc, err := j.render(bytes.NewReader(j.snapshot(s.View(), s, now)), &e)
		if err != nil {
			return Exported{}, err
		}
		return j.exported(id, path, doc, &e)
	}
	return j.exportNew(s, pane, cwd, id, now)
}

func (j *Journal) exported(id, path string, doc *document, e *entry) (Exported, error) {
	if err := record.WriteFile(path, doc.text); err != nil {
		return Exported{}, err
	}
	return Exported{SessionID: id, Path: path, Bytes: len(doc.text), BlockCount: e.BlockCount}, nil
}

// exportNew writes a log and its document where recordings are kept.
func (j *Journal) exportNew(s *engine.Session, pane int, cwd, id string,
	now time.Time) (Exported, error) {
	where, err := j.open(cwd, now, fmt.Sprintf("tab-%d-%s-export", pane, now.Format("150405")))
	if err != nil {
		return Exported{}, err
	}
	defer where.close()
	e := j.entryFor(id, pane, where, s.Started())
	reason, ended := reasonExport, stamp(now)
	e.EndedAt, e.ExitReason = &ended, &reason
	_, err = where.log.Write(j.snapshot(s.View(), s, now))
	if err == nil {
		err = where.log.Sync()
	}
	var doc *document
	if err == nil {
		doc, err = j.document(where.folder, where.name+".log", &e)
	}
	if err == nil {
		err = where.write(doc.text)
	}
	if err != nil {
		where.discard()
		return Exported{}, err
	}
	where.log.Close()
	if err := j.updateIndex(func(all *index) { all.put(e) }); err != nil {
		return Exported{}, err
	}
	return Exported{SessionID: id, Path: e.MDPath, Bytes: len(doc.text),
		BlockCount: e.BlockCount}, nil
}

func (r *recording) entryID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entry.ID
}

// replaceable reports why a document may not go to path.
func replaceable(path string) error {
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".md" && ext != ".markdown" {
		return errors.New("'path' does not end in .md")
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() { // WriteFile reports what it is
		return nil
	}
	if err != nil {
		return bare(err)
	}
	f, err := os.Open(path)
	if err != nil {
		return bare(err)
	}
	defer f.Close()
	const head = "---\nunterm_session_id: "
	var begins [len(head)]byte
	if n, err := io.ReadFull(f, begins[:]); n > 0 && string(begins[:]) != head ||
		err != nil && n > 0 {
		return fmt.Errorf("%s exists and is another kind of document; choose another name", path)
	}
	return nil
}

// snapshot is a log of a session as it is.
func (j *Journal) snapshot(v *engine.View, s *engine.Session, now time.Time) []byte {
	var log []byte
	add := func(at time.Time, event, data string) {
		if j.hider != nil {
			data = j.hider.For(string(s.ID())).String(data)
		}
		for len(data) > outMax {
			log = appendLine(log, at, event, []byte(data[:outMax]))
			data = data[outMax:]
		}
		log = appendLine(log, at, event, []byte(data))
	}
	blocks, how := s.Blocks(0)
	if how == engine.IntegrationNone {
		add(now, eventOut, scrollback(v.Screen))
		return log
	}
	for _, b := range blocks {
		add(b.Started, eventPrompt, "")
		add(b.Started, eventInput, "")
		add(b.Started, eventOutput, b.Command)
		add(b.Started, eventOut, b.Output)
		if !b.Ended.IsZero() {
			status := ""
			if b.Exited {
				status = strconv.Itoa(b.ExitCode)
			}
			add(b.Ended, eventExit, status)
		}
	}
	return log
}

// scrollback is the text of a session, with wrapped lines joined. On the alternate screen it is
// that screen's text.
func scrollback(s *vt.Screen) string {
	h := s.History()
	if s.Modes.AltScreen {
		return s.Text()
	}
	text, _ := s.Between(vt.Position{Line: h.Dropped()},
		vt.Position{Line: h.Dropped() + uint64(h.Len()+s.Rows)}, mostScrollback)
	return strings.TrimRight(text, "\n")
}
