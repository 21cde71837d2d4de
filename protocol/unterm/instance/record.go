package instance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// maxRecord bounds a record's file, in bytes. The longest title and cwd, with every byte written as
// \u0000, and the rest take half of it; a larger file is not read at all.
const maxRecord = 64 << 10

const (
	// MaxTitle is the longest title, in bytes. It is a label for people; more would only slow every
	// reader.
	MaxTitle = 1024
	// maxCwd is the longest cwd, in bytes: PATH_MAX of Linux, the largest of any system. A longer
	// one is left out.
	maxCwd = 4096
)

// startedAtLayout is RFC 3339 with a numeric offset, also for UTC, and always six digits, so that
// records of one time zone sort as text.
const startedAtLayout = "2006-01-02T15:04:05.000000-07:00"

// Optional is a string that is null in JSON when empty.
type Optional string

// MarshalJSON implements [json.Marshaler].
func (o Optional) MarshalJSON() ([]byte, error) {
	if o == "" {
		return []byte("null"), nil
	}
	return marshal(string(o), "")
}

// A Record is the content of an instance's file. The order of its fields is that of the file.
type Record struct {
	// ID is the name, and the file's name before ".json".
	ID       string `json:"id"`
	MCPPort  int    `json:"mcp_port"`
	HTTPPort int    `json:"http_port"` // 0 without an HTTP server
	// AuthToken is fresh for every launch. No error of this package contains it.
	AuthToken string `json:"auth_token"`
	PID       int    `json:"pid"`
	// StartedAt is the moment of the claim, RFC 3339 in local time with a numeric offset.
	StartedAt string   `json:"started_at"`
	Title     Optional `json:"title"`
	Cwd       Optional `json:"cwd"` // a path, not a URL
	Version   string   `json:"version"`
	Platform  string   `json:"platform"` // linux, macos, windows

	// PIDStarted is when the process was started, a decimal number: clock ticks since the boot on
	// Linux, microseconds since 1970 on macOS, 100 ns since 1601 on Windows. It is text because it
	// does not fit a JavaScript number. Empty in the records of Unterm, and where the system does
	// not report it.
	PIDStarted string `json:"pid_started,omitempty"`
	// BootID changes with every boot. Empty on Windows, where PIDStarted alone is enough.
	BootID string `json:"boot_id,omitempty"`
}

// String returns everything but the token.
func (r Record) String() string {
	return fmt.Sprintf("%s (process %d, port %d, started %s)", r.ID, r.PID, r.MCPPort, r.StartedAt)
}

// GoString is String, so that no format prints the token.
func (r Record) GoString() string { return r.String() }

// LogValue implements [slog.LogValuer], without the token.
func (r Record) LogValue() slog.Value { return slog.StringValue(r.String()) }

// An Entry is a record as instance.list returns it: without the token.
type Entry struct {
	ID        string   `json:"id"`
	PID       int      `json:"pid"`
	StartedAt string   `json:"started_at"`
	MCPPort   int      `json:"mcp_port"`
	HTTPPort  int      `json:"http_port"`
	Title     Optional `json:"title"`
	Cwd       Optional `json:"cwd"`
	Version   string   `json:"version"`
	Platform  string   `json:"platform"`
}

// Info is a record as instance.info returns it: an [Entry] with the token.
type Info struct {
	ID        string   `json:"id"`
	PID       int      `json:"pid"`
	StartedAt string   `json:"started_at"`
	MCPPort   int      `json:"mcp_port"`
	HTTPPort  int      `json:"http_port"`
	AuthToken string   `json:"auth_token"`
	Title     Optional `json:"title"`
	Cwd       Optional `json:"cwd"`
	Version   string   `json:"version"`
	Platform  string   `json:"platform"`
}

// Entry returns the part of a record for clients that are logged in to any instance.
func (r Record) Entry() Entry {
	return Entry{r.ID, r.PID, r.StartedAt, r.MCPPort, r.HTTPPort, r.Title, r.Cwd, r.Version,
		r.Platform}
}

// Info returns the part of a record for clients that are logged in to this instance.
func (r Record) Info() Info {
	return Info{r.ID, r.PID, r.StartedAt, r.MCPPort, r.HTTPPort, r.AuthToken, r.Title, r.Cwd,
		r.Version, r.Platform}
}

// encode returns the file of r.
func (r Record) encode() ([]byte, error) {
	b, err := marshal(r, "  ")
	if err == nil && len(b) > maxRecord {
		err = fmt.Errorf("it has %d bytes, and at most %d are read", len(b), maxRecord)
	}
	return b, err
}

// marshal is json.Marshal without escapes for <, > and &, as other writers of these files do.
func marshal(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// parse reads an instance's file, which anyone may have written. A member of the wrong type counts
// as missing: a file that names a live server must not be dropped because of its title. ok is false
// when b is not a JSON object with an id.
func parse(b []byte) (r Record, ok bool) {
	err := json.Unmarshal(b, &r)
	if mismatch := new(json.UnmarshalTypeError); err != nil && !errors.As(err, &mismatch) {
		return Record{}, false
	}
	return r, r.ID != ""
}

// usable reports whether a client can connect with r.
func (r Record) usable() bool {
	return r.MCPPort > 0 && r.MCPPort <= 65535 && r.AuthToken != ""
}

// startedAfter orders records by their start, and as text where that is not a time.
func (r Record) startedAfter(s Record) bool {
	a, errA := time.Parse(time.RFC3339, r.StartedAt)
	b, errB := time.Parse(time.RFC3339, s.StartedAt)
	if errA == nil && errB == nil {
		return a.After(b)
	}
	return r.StartedAt > s.StartedAt
}
