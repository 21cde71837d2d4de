package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/internal/lazy"
)

// A document is a recording in readable form.
type document struct {
	text []byte
}

// noMarks is the note in a document without command marks.
const noMarks = "> osc133 not active — install shell integration for block-level breakdown\n"

// document renders a log in a folder, and completes e.
func (j *Journal) document(folder *os.Root, name string, e *entry) (*document, error) {
	info, err := folder.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("the log is not a regular file")
	}
	if err != nil {
		return nil, bare(err)
	}
	f, err := folder.Open(name)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.New("the log was replaced")
	}
	return j.render(f, e)
}

// documentAt renders the log of an index entry.
func (j *Journal) documentAt(e *entry) (*document, error) {
	dir, name := filepath.Split(e.LogPath)
	if !filepath.IsAbs(dir) || name == "" {
		return nil, errors.New("the index names no log")
	}
	folder, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("its log is gone, with its folder")
	}
	if err != nil {
		return nil, bare(err)
	}
	defer folder.Close()
	doc, err := j.document(folder, name, e)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("its log is gone")
	}
	return doc, err
}

// render renders a log, and completes e.
func (j *Journal) render(log io.Reader, e *entry) (*document, error) {
	rules, err := j.rules()
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	w := sections{out: &body, hide: func(text string) string { return rules.apply(j.hide(text)) }}
	r := &reader{done: func(b block) { w.block(&b) }}
	if err := readLog(log, r.take); err != nil {
		return nil, err
	}
	r.close()
	e.BlockCount, e.TotalLines, e.BytesRaw, e.OSC133 = w.blocks, w.lines, r.raw, r.marked
	e.RedactionActive = rules.enabled || j.hider != nil
	e.RedactionCount = w.hidden
	if e.Project != nil {
		e.RedactionCount += len(markers().FindAllString(*e.Project, -1))
	}
	var b bytes.Buffer
	j.front(&b, e)
	if r.marked {
		b.Write(body.Bytes())
	} else {
		b.WriteString(noMarks + "\n")
		b.WriteString(record.Fence("", w.only))
		b.WriteByte('\n')
	}
	return &document{text: b.Bytes()}, nil
}

// front writes the front matter, YAML, and the title.
func (j *Journal) front(b *bytes.Buffer, e *entry) {
	host, _ := os.Hostname() // an empty one will do
	project := "null"
	if e.Project != nil {
		project = scalar(j.hide(*e.Project))
	}
	ended, reason := "null", "unknown"
	if e.EndedAt != nil {
		ended = scalar(*e.EndedAt)
	}
	if e.ExitReason != nil {
		reason = scalar(*e.ExitReason)
	}
	traces := make([]string, len(e.Traces))
	for i, id := range e.Traces {
		traces[i] = quoted(j.hide(id))
	}
	parent := "null"
	if e.Parent != nil {
		parent = scalar(j.hide(*e.Parent))
	}
	b.WriteString("---\n")
	for _, kv := range [][2]string{
		{"unterm_session_id", scalar(e.ID)},
		{"tab_id", strconv.Itoa(e.Tab)},
		{"project_path", project},
		{"project_slug", scalar(j.hide(e.Slug))},
		{"shell", scalar(j.hide(shell()))},
		{"hostname", scalar(j.hide(host))},
		{"unterm_version", scalar(j.o.Version)},
		{"started_at", scalar(e.StartedAt)},
		{"ended_at", ended},
		{"exit_reason", reason},
		{"osc133_active", strconv.FormatBool(e.OSC133)},
		{"block_count", strconv.Itoa(e.BlockCount)},
		{"total_lines", strconv.Itoa(e.TotalLines)},
		{"bytes_raw", strconv.FormatInt(e.BytesRaw, 10)},
		{"trace_ids", "[" + strings.Join(traces, ", ") + "]"},
		{"redaction_active", strconv.FormatBool(e.RedactionActive)},
		{"redaction_count", strconv.Itoa(e.RedactionCount)},
		{"parent_session_id", parent},
	} {
		b.WriteString(kv[0] + ": " + kv[1] + "\n")
	}
	when, _, _ := strings.Cut(oneLine(e.StartedAt, 64), "+")
	b.WriteString("---\n\n# Unterm session — " + strings.Replace(when, "T", " ", 1) + "\n\n")
}

// plainScalar matches what YAML reads as a string, or a time, without quotes.
var plainScalar = lazy.Regexp(`^[A-Za-z0-9/._][A-Za-z0-9/._+:@-]*$`)

// wordScalar matches what it reads as another type.
var wordScalar = lazy.Regexp(`^(?i:null|true|false|yes|no|on|off|y|n|\.nan|\.inf|[0-9_]*\.?[0-9_]*(e[+-]?[0-9]+)?|0[xob][0-9a-f_]+|[0-9]+(:[0-9.]+)+|[0-9]+-[0-9]+-[0-9]+)$`)

// scalar writes a string for YAML: unquoted when nothing in it has a meaning, as simple readers of
// front matter expect.
func scalar(s string) string {
	if !plainScalar().MatchString(s) || strings.HasSuffix(s, ":") || wordScalar().MatchString(s) {
		return quoted(s)
	}
	return s
}

// quoted is a JSON string, which YAML 1.2 accepts; Unicode line ends and invalid text are escaped
// in it.
func quoted(s string) string {
	data, err := json.Marshal(oneLine(s, 8<<10))
	if err != nil {
		return `""` // never: a string always encodes
	}
	return string(data)
}

// oneLine is at most n bytes of s, without control characters and line ends.
func oneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// sections writes the blocks of a document.
type sections struct {
	out    *bytes.Buffer
	hide   func(string) string
	only   string // the output of the last block
	blocks int
	lines  int // of output
	hidden int // markers
}

// headingMax bounds the command in a heading, in bytes: the engine's own bound for one.
const headingMax = 16 << 10

func (w *sections) block(b *block) {
	w.blocks++
	output := strings.TrimRight(w.hide(b.output), " \t\n")
	command := w.hide(b.command)
	w.hidden += len(markers().FindAllString(output, -1)) + len(markers().FindAllString(command, -1))
	if output != "" {
		w.lines += strings.Count(output, "\n") + 1
	}
	w.only = output
	title := "(no command captured)"
	if command != "" {
		title = record.Code(oneLine(strings.ReplaceAll(command, "\n", " ⏎ "), headingMax))
	}
	fmt.Fprintf(w.out, "## Block %d — %s\n\n", w.blocks, title)
	status, took, when := "?", "", "--:--:--"
	if b.status != "" {
		status = b.status
	}
	if !b.began.IsZero() {
		when = b.began.Format("15:04:05")
		if !b.ended.IsZero() {
			took = fmt.Sprintf(" · %.2fs", max(0, b.ended.Sub(b.began).Seconds()))
		}
	}
	fmt.Fprintf(w.out, "> exit: %s%s · %s\n\n", status, took, when)
	w.out.WriteString(record.Fence("", output))
	w.out.WriteByte('\n')
}
