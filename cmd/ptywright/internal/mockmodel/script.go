package mockmodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// A Script says what the model answers. Its JSON names are the fields' names in lower case, with
// words joined by underscores; an unknown name is an error.
type Script struct {
	// Vars are expressions matched against a request's body, escaped as in JSON: "{{name}}" in a
	// step is replaced by the last match, or "" without one. In plan mode Claude Code names the
	// plan's file only in the request.
	Vars map[string]string `json:"vars"`
	// Conversations are matched against the text that the user typed last. If several match, the
	// one whose match comes last in the text wins: after a failed turn Claude Code sends the old
	// and the new prompt as one.
	Conversations []Conversation `json:"conversations"`
	// Default answers text that matches no conversation.
	Default Step `json:"default"`
	// Side answers requests by which an agent asks for a title and the like; they have no tools or
	// want JSON. Without blocks it says "ok".
	Side Step `json:"side"`
}

// A Conversation is what the model says from one prompt to the next.
type Conversation struct {
	// Match is an RE2 expression.
	Match string `json:"match"`
	// Steps are the answers in order: the first to the prompt, the next to the result of the tool
	// that the first used, and so on; the last one repeats. A request that is sent again gets the
	// same step again.
	Steps []Step `json:"steps"`

	match *regexp.Regexp
}

// A Step is one answer.
type Step struct {
	// Hold delays the answer, including its first byte, until the test releases the hold of that
	// name.
	Hold string `json:"hold"`
	// Error answers with an error instead.
	Error *Error `json:"error"`
	// Blocks are the content of the answer.
	Blocks []Block `json:"blocks"`
	// StreamError ends the stream with an error event after the blocks.
	StreamError *Error `json:"stream_error"`
}

// A Block is a piece of content: exactly one of Text, Thinking, Tool and Hold is set.
type Block struct {
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	Tool     *Tool  `json:"tool"`
	// Hold delays the rest of the stream until the test releases the hold of that name.
	Hold string `json:"hold"`
	// EveryMS is the time between pieces of about 16 characters, in milliseconds. 0: all in one
	// piece.
	EveryMS int `json:"every_ms"`
}

// A Tool is a tool call by the model.
type Tool struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// An Error is an error of the API.
type Error struct {
	Status  int               `json:"status"` // of HTTP; unused in a stream
	Type    string            `json:"type"`   // "rate_limit_error"
	Message string            `json:"message"`
	Headers map[string]string `json:"headers"`
	// Times is how many requests fail before one gets the blocks. 0: all fail.
	Times int `json:"times"`
}

// parse reads a script and compiles its expressions.
func parse(text []byte) (*Script, error) {
	var s Script
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("read a script: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read a script: something follows it")
	}
	for name, v := range s.Vars {
		if _, err := regexp.Compile(v); err != nil {
			return nil, fmt.Errorf("read a script: var %s: %w", name, err)
		}
	}
	steps := []Step{s.Default, s.Side}
	for i := range s.Conversations {
		c := &s.Conversations[i]
		var err error
		if c.match, err = regexp.Compile(c.Match); err != nil {
			return nil, fmt.Errorf("read a script: conversation %q: %w", c.Match, err)
		}
		if len(c.Steps) == 0 {
			return nil, fmt.Errorf("read a script: conversation %q has no steps", c.Match)
		}
		steps = append(steps, c.Steps...)
	}
	for _, step := range steps {
		if err := step.check(); err != nil {
			return nil, fmt.Errorf("read a script: %w", err)
		}
	}
	return &s, nil
}

// check refuses steps whose answer would not be what the script's author meant.
func (s Step) check() error {
	for _, b := range s.Blocks {
		set := 0
		for _, is := range []bool{b.Text != "", b.Thinking != "", b.Tool != nil, b.Hold != ""} {
			if is {
				set++
			}
		}
		if set != 1 {
			return fmt.Errorf("block %+v has not one of text, thinking, tool and hold", b)
		}
	}
	if s.Error != nil && s.Error.Status < 400 {
		return fmt.Errorf("error %q has status %d, which is none", s.Error.Message, s.Error.Status)
	}
	return nil
}

// body is the part of a request that the answer depends on; its JSON is that of Anthropic's
// Messages API.
type body struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []speech          `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

// speech is what one side said, "user" or "assistant".
type speech struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

func readAnthropic(raw []byte) (*body, error) {
	var b body
	return &b, json.Unmarshal(raw, &b)
}

// content is a message's content: in JSON a string, or blocks, of which text and tool results are
// kept.
type content struct {
	texts, results []string
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(text []byte) error {
	*c = content{}
	if len(text) > 0 && text[0] == '"' {
		c.texts = []string{""}
		return json.Unmarshal(text, &c.texts[0])
	}
	var blocks []struct {
		Type, Text string
		Content    *content
	}
	err := json.Unmarshal(text, &blocks)
	for _, b := range blocks {
		switch {
		case b.Type == "text":
			c.texts = append(c.texts, b.Text)
		case b.Type == "tool_result" && b.Content != nil:
			c.results = append(c.results, strings.Join(b.Content.texts, "\n"))
		}
	}
	return err
}

// notTyped are the prefixes of texts that agents add to the user's without the user having typed
// them: Claude Code, Codex, Gemini CLI.
var notTyped = []string{
	"<system-reminder>", "[Request interrupted", "<environment_context>", "<user_instructions>",
	"<skill>\n", "<turn_aborted>", "<session_context>",
}

// referenced starts what Gemini CLI adds for the files that a prompt names, up to the end of the
// message.
const referenced = "\n--- Content from referenced files ---"

// typed returns the texts that the user typed, in order, and how many messages of the model follow
// the last of them.
func (b *body) typed() (texts []string, after int) {
	for _, m := range b.Messages {
		switch m.Role {
		case "assistant":
			after++
			continue
		case "user":
		default: // what the agent says about the machine, between the messages
			continue
		}
		var parts []string
	parts:
		for _, text := range m.Content.texts {
			if text == referenced {
				break
			}
			for _, begin := range notTyped {
				if strings.HasPrefix(strings.TrimSpace(text), begin) {
					continue parts
				}
			}
			if strings.TrimSpace(text) != "" {
				parts = append(parts, text)
			}
		}
		if parts != nil {
			texts, after = append(texts, strings.Join(parts, "\n")), 0
		}
	}
	return texts, after
}

// results returns the tool results since the model last spoke.
func (b *body) results() (all []string) {
	for _, m := range slices.Backward(b.Messages) {
		if m.Role == "assistant" {
			break
		}
		all = append(slices.Clone(m.Content.results), all...)
	}
	return all
}

// answer finds the step for a request: the conversation's expression, "" when none matches, and the
// step's number.
func (s *Script) answer(b *body, raw []byte) (match string, number int, step Step, err error) {
	if len(b.Tools) == 0 {
		return "", 0, s.Side, nil
	}
	texts, number := b.typed()
	var last *Conversation
	at := -1
	if len(texts) > 0 {
		for i := range s.Conversations {
			found := s.Conversations[i].match.FindAllStringIndex(texts[len(texts)-1], -1)
			if found != nil && found[len(found)-1][0] > at {
				last, at = &s.Conversations[i], found[len(found)-1][0]
			}
		}
	}
	if last == nil {
		return "", number, s.Default, nil
	}
	step, err = s.fill(last.Steps[min(number, len(last.Steps)-1)], raw)
	return last.Match, number, step, err
}

// fill replaces the variables in a step.
func (s *Script) fill(step Step, raw []byte) (Step, error) {
	text, err := json.Marshal(step)
	if err != nil {
		return Step{}, err
	}
	for name, pattern := range s.Vars {
		found := regexp.MustCompile(pattern).FindAll(raw, -1)
		var value []byte
		if found != nil {
			value = found[len(found)-1]
		}
		text = bytes.ReplaceAll(text, []byte("{{"+name+"}}"), value)
	}
	var filled Step
	err = json.Unmarshal(text, &filled)
	return filled, err
}
