package native

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/picture"
	"github.com/ptywright/ptywright/engine/record"
	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/protocol"
)

// ranges are the bounds of numbers in params, by name or by method and name.
var ranges = sync.OnceValue(func() map[string][2]int64 {
	return map[string][2]int64{
		"rows": {1, engine.MaxSide}, "cols": {1, engine.MaxSide}, "pixel_width": {0, math.MaxUint16}, "pixel_height": {0, math.MaxUint16},
		"timeout_ms": {0, maxTimeout.Milliseconds()}, "ago_ms": {0, maxLeash.Milliseconds()}, "session.history max": {1, maxMatches}, "delay_ms": {0, engine.MaxPace.Milliseconds()}, "count": {0, maxLines}, "max": {0, maxMatches},
		"max_ms": {1, maxLeash.Milliseconds()}, "idle_ms": {1, maxLeash.Milliseconds()}, "max_memory": {leastMemory, mostMemory},
		"transcript_max_chars": {0, maxTranscript}, "scrollback_max_lines": {0, maxScrollback}, "history_max_bytes": {0, maxHistory}, "start": {0, maxStart},
		"idle_limit": {0, maxTimeout.Milliseconds()}, "font_size": {picture.FontSizeMin, picture.FontSizeMax},
		"padding": {0, picture.PaddingMax}, "scale": {picture.ScaleMin, picture.ScaleMax},
	}
})

// words are the values of strings in params that take only some, by name or by method and name.
var words = sync.OnceValue(func() map[string][]any {
	return map[string][]any{
		"session.wait_many until": {string(engine.UntilAny), string(engine.UntilAll), string(engine.UntilEach)},
		"evidence":                {evidenceMatched, evidenceAll, evidenceNone},
		"session.locate state":    {stateVisible, stateHidden, stateStable},
		"owner":                   {ownerServer, ownerConnection}, "rights": {protocol.RightAdmin.String(), protocol.RightType.String(), protocol.RightRead.String()}, "session.input until": {untilSent, untilRead}, "which": {whichFirst, whichLast, whichAll}, "theme": {"dark", "light"}, "form": {"runs", "ansi"},
		"cells": {"full", "runs", "none"}, "ordering": {protocol.Session.String(), protocol.Concurrent.String()},
		"echo_off":                    {string(engine.EchoAsk), string(engine.EchoSecret), string(engine.EchoPlain)},
		"session.scrollback form":     {"text", "runs"},
		"session.screenshot format":   {"png", "svg", "html", "ansi"},
		"session.screenshot theme":    anys(picture.ThemeNames()),
		"frame":                       anys(picture.Frames()),
		"session.record_start format": {string(record.AsciicastV2), string(record.AsciicastV3), string(record.MarkdownDoc)},
	}
})

// rules say which params of a method exclude or need each other.
var rules = sync.OnceValue(func() map[string]func(*jsonschema.Schema) {
	return map[string]func(*jsonschema.Schema){
		"session.search": func(s *jsonschema.Schema) {
			exactlyOne("text", "regex")(s)
			s.Properties["text"].MinLength = jsonschema.Ptr(1)
		},
		"session.record_start": func(s *jsonschema.Schema) {
			exactlyOne("path", "dir")(s)
			s.Properties["path"].MinLength, s.Properties["dir"].MinLength = jsonschema.Ptr(1), jsonschema.Ptr(1)
		},
		"session.input": func(s *jsonschema.Schema) {
			exactlyOne("action", "actions")(s)
			s.Properties["id"].MinLength = jsonschema.Ptr(1)
			s.Properties["id"].MaxLength = jsonschema.Ptr(engine.MaxOnceID)
		},
		"session.wait_many": func(s *jsonschema.Schema) {
			exactlyOne("sessions", "select")(s)
			s.Properties["sessions"].MinItems = jsonschema.Ptr(1)
			s.Properties["wait"].MaxLength = jsonschema.Ptr(mostWaitWord)
		},
		"session.transcript": atMostOne("since", "mark"),
		"adapter.transcript": atMostOne("since", "mark"),
		"session.frame":      atMostOne("since", "at"),
		"session.locate":     atMostOne("since", "at"),
		"session.create": func(s *jsonschema.Schema) {
			both := &jsonschema.Schema{Required: []string{"base_env", "clear_env"}}
			both.Properties = map[string]*jsonschema.Schema{"clear_env": {Const: jsonschema.Ptr[any](true)}}
			s.Not = both
			s.DependentRequired = map[string][]string{"raw_transcript_append": {"raw_transcript_path"}}
			boundTags(s)
		},
		"server.set_notifications": func(s *jsonschema.Schema) {
			s.DependentRequired = map[string][]string{"since": {"sessions"}}
			s.DependentSchemas = map[string]*jsonschema.Schema{
				"since": {Properties: map[string]*jsonschema.Schema{"sessions": {MinItems: jsonschema.Ptr(1)}}},
			}
		},
		"adapter.start":  boundTags,
		"adapter.resume": boundTags,
		"session.run":    func(s *jsonschema.Schema) { s.Properties["command"].Pattern = `\S` },
	}
})

// boundTags bounds the tags of a session.
func boundTags(s *jsonschema.Schema) {
	tags := s.Properties["tags"]
	tags.MaxItems = jsonschema.Ptr(engine.MaxTags)
	tags.Items.Pattern = `^[a-z0-9._-]+$`
	tags.Items.MaxLength = jsonschema.Ptr(engine.MaxTag)
}

func exactlyOne(a, b string) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) {
		s.OneOf = []*jsonschema.Schema{{Required: []string{a}}, {Required: []string{b}}}
	}
}

func atMostOne(a, b string) func(*jsonschema.Schema) {
	return func(s *jsonschema.Schema) { s.Not = &jsonschema.Schema{Required: []string{a, b}} }
}

var (
	defaultNumber = lazy.Regexp(`\bdefault ([0-9]+)\b`)
	defaultWord   = lazy.Regexp(`\b([a-z0-9-]+) \(default\)`)
	defaultBool   = lazy.Regexp(`\bdefault (true|false)\b`)
)

// bound puts bounds, words and the defaults that descriptions name into the schema of params. The
// code enforces them itself; a test compares the two.
func bound(method string, s *jsonschema.Schema) {
	for name, p := range s.Properties {
		r, ok := ranges()[method+" "+name]
		if !ok {
			r, ok = ranges()[name]
		}
		if ok {
			p.Minimum, p.Maximum = jsonschema.Ptr(float64(r[0])), jsonschema.Ptr(float64(r[1]))
		}
		w, ok := words()[method+" "+name]
		if !ok {
			w, ok = words()[name]
		}
		if ok && p.Type == "string" {
			p.Enum = w
		}
		if p.Type == "string" && p.Enum == nil && slices.Contains(s.Required, name) {
			p.MinLength = jsonschema.Ptr(1)
		}
		var absent string
		switch {
		case p.Type == "integer" || p.Type == "number":
			absent = submatch(defaultNumber(), p.Description)
		case p.Type == "boolean":
			absent = submatch(defaultBool(), p.Description)
		case p.Enum != nil:
			if word := submatch(defaultWord(), p.Description); word != "" {
				absent = strconv.Quote(word)
			}
		}
		if absent != "" {
			p.Default = json.RawMessage(absent)
		}
		if p.Type == "array" && name == "actions" {
			p.MinItems, p.MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(engine.MaxTyping)
		}
		bound(method, p)
	}
}

func submatch(re *regexp.Regexp, text string) string {
	if m := re.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
