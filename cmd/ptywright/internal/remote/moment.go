package remote

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// A Moment is a flag for a moment of a session's past, in the wire's form. Its zero value is none.
type Moment struct {
	text  string
	value any
}

// String is the flag's value.
func (m *Moment) String() string { return m.text }

// Type names the flag's type.
func (m *Moment) Type() string { return "MOMENT" }

// Given reports whether there is one.
func (m *Moment) Given() bool { return m.value != nil }

// MarshalJSON writes it as the wire has it.
func (m *Moment) MarshalJSON() ([]byte, error) { return json.Marshal(m.value) }

// Set accepts a sequence, a time ago, and a time.
func (m *Moment) Set(s string) error {
	m.text, m.value = s, nil
	if n, err := strconv.ParseUint(s, 10, 63); err == nil {
		m.value = n
	} else if ago, ok := strings.CutPrefix(s, "-"); ok {
		if d, err := time.ParseDuration(ago); err == nil && d >= 0 && d <= 365*24*time.Hour {
			m.value = map[string]int64{"ago_ms": d.Milliseconds()}
		}
	} else if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		m.value = map[string]time.Time{"time": t}
	}
	if m.value == nil {
		return errors.New("give a sequence, such as 42, a time ago, such as -5s, or a time, such as 2026-01-02T15:04:05Z")
	}
	return nil
}
