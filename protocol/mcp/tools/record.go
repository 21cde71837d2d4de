package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ptywright/ptywright/engine/record"
)

const recordAbout = `Record a session from here on, into a file that others can play (asciicast) or read (markdown). Secrets are covered in it.

{"action":"start","session":"s1"}   {"action":"start","session":"s1","path":"/tmp/demo.cast"}   {"action":"stop","recording":"r1"}   {"action":"list"}

Without path the file goes into the folder dir, or else ~/.ptywright/recordings. It has its name once the recording is stopped or the session ends.`

type recordParams struct {
	Action      string `json:"action" jsonschema:"start, stop or list"`
	Session     string `json:"session,omitempty" jsonschema:"start: the session; stop: all recordings of it; list: only its"`
	Recording   string `json:"recording,omitempty" jsonschema:"stop: which"`
	Path        string `json:"path,omitempty" jsonschema:"start: file to write; it must not exist"`
	Dir         string `json:"dir,omitempty" jsonschema:"start: folder in which the file gets a name of its own"`
	Format      string `json:"format,omitempty" jsonschema:"asciicast-v2 (default), asciicast-v3 or markdown"`
	Title       string `json:"title,omitempty" jsonschema:"of the recording"`
	Input       bool   `json:"input,omitempty" jsonschema:"keep what is typed, too"`
	IdleLimitMS int    `json:"idle_limit_ms,omitempty" jsonschema:"pauses are to be played no longer than this"`
	rawAsked
}

type recordResult struct {
	Session    string          `json:"session"`
	Recordings []recordingInfo `json:"recordings"`
}

type recordingInfo struct {
	Recording  string `json:"recording"`
	Session    string `json:"session"`
	Path       string `json:"path"`
	Format     string `json:"format"`
	State      string `json:"state" jsonschema:"recording, done, limit or failed"`
	Bytes      int64  `json:"bytes"`
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"`
}

// recordingsOf returns the recordings of an id, of a session, or all.
func (p *profile) recordingsOf(id, session string) []*record.Kept {
	return slices.DeleteFunc(p.Recordings.List(), func(x *record.Kept) bool {
		return id != "" && x.ID != id || session != "" && string(x.Session) != session
	})
}

func (p *profile) record(_ context.Context, _ *sdk.CallToolRequest,
	in recordParams) (*reply[recordResult], error) {
	var all []*record.Kept
	switch in.Action {
	case "start":
		x, err := p.startRecording(&in)
		if err != nil {
			return nil, err
		}
		all = []*record.Kept{x}
	case "stop":
		if in.Recording == "" && in.Session == "" {
			return nil, bad("recording", "expected the recording, or the session, to stop")
		}
		all = p.recordingsOf(in.Recording, in.Session)
		if len(all) == 0 {
			return nil, bad("recording", "there is none such: see action list")
		}
		for _, x := range all {
			if err := x.Stop(); err != nil {
				return nil, err
			}
		}
	case "list":
		all = p.recordingsOf(in.Recording, in.Session)
	default:
		return nil, bad("action", "expected start, stop or list")
	}
	r := recordResult{Session: in.Session, Recordings: []recordingInfo{}}
	var b strings.Builder
	for _, x := range all {
		info := p.recordingInfo(x)
		r.Recordings = append(r.Recordings, info)
		if r.Session == "" && in.Action == "stop" {
			r.Session = info.Session
		}
		fmt.Fprintf(&b, "%s of %s: %s, %d bytes, %v, %s\n", info.Recording, info.Session,
			info.State, info.Bytes, (time.Duration(info.DurationMS) * time.Millisecond), info.Path)
	}
	if len(all) == 0 {
		b.WriteString("No recordings.")
	}
	return &reply[recordResult]{text: strings.TrimSuffix(b.String(), "\n"), out: r}, nil
}

func (p *profile) recordingInfo(x *record.Kept) recordingInfo {
	st := x.Status()
	info := recordingInfo{
		Recording: x.ID, Session: string(x.Session), Path: p.hide.String(st.Path),
		Format: string(st.Format), State: string(st.State), Bytes: st.Bytes,
		DurationMS: st.Duration.Milliseconds(),
	}
	if st.Err != nil {
		info.Error = p.hide.String(st.Err.Error())
	}
	return info
}

func (p *profile) startRecording(in *recordParams) (*record.Kept, error) {
	format := record.Format(in.Format)
	if format == "" {
		format = record.AsciicastV2
	}
	switch {
	case !slices.Contains([]record.Format{record.AsciicastV2, record.AsciicastV3,
		record.MarkdownDoc}, format):
		return nil, bad("format", "expected asciicast-v2, asciicast-v3 or markdown")
	case in.Path != "" && in.Dir != "":
		return nil, bad("path", "expected path or dir, not both")
	case in.Input && format == record.MarkdownDoc:
		return nil, bad("input", "a markdown transcript has no input: its commands are in it")
	case in.IdleLimitMS < 0:
		return nil, bad("idle_limit_ms", "expected a number of milliseconds")
	}
	s, err := p.session(in.Session)
	if err != nil {
		return nil, err
	}
	path := in.Path
	if path == "" {
		dir, err := recordDir(in.Dir)
		if err != nil {
			return nil, err
		}
		path = filepath.Join(dir, record.FileName(s.ID(), format, time.Now()))
	}
	return p.Recordings.Start(s, record.StartOptions{
		Path: path, Format: format, Title: in.Title,
		IdleLimit: time.Duration(in.IdleLimitMS) * time.Millisecond, Input: in.Input,
		Redactor: in.redactor(),
	})
}

// recordDir is the folder for recordings, made private if it is missing.
func recordDir(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	home := os.Getenv("PTYWRIGHT_HOME")
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find a folder for recordings: %w; give path or dir", err)
		}
		home = filepath.Join(user, ".ptywright")
	}
	dir := filepath.Join(home, "recordings")
	return dir, os.MkdirAll(dir, 0o700)
}
