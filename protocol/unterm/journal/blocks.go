package journal

import (
	"bytes"
	"strings"
	"time"
)

// A block is a command, or output before one.
type block struct {
	command string
	output  string
	began   time.Time // when it was entered, or else its prompt began; zero: unknown
	ended   time.Time // zero: unknown
	status  string    // digits; "": unknown
}

// A region is the part of a block that the output belongs to.
type region byte

const (
	inOutput region = iota
	inPrompt
	inInput
)

// A reader makes blocks of a log's events.
type reader struct {
	done   func(block) // called with each, once it has ended
	marked bool        // a mark was seen
	enters bool        // a mark of an entered command line was seen: this shell makes them
	raw    int64       // bytes of output

	strip   stripper
	region  region
	between bool // between a command's end and the next prompt
	entered,
	prompted time.Time // of the current block
	told   string // its command, from the mark
	input  []byte // stripped
	output []byte
}

// take takes the next event.
func (r *reader) take(e event) {
	switch e.kind {
	case eventOut:
		r.raw += int64(len(e.data))
		switch r.region {
		case inOutput:
			r.output = r.strip.append(r.output, 0, e.data)
		case inInput:
			r.input = r.strip.append(r.input, 0, e.data)
		case inPrompt:
			r.strip.append(nil, 0, e.data)
		}
		return
	case eventPrompt:
		r.noPrompt()
		r.end(time.Time{}, "")
		r.between = false
		r.region, r.prompted = inPrompt, e.at
	case eventInput:
		r.region = inInput
	case eventOutput:
		switch {
		case r.region == inOutput && !r.entered.IsZero(): // the same mark in both forms
		default:
			if r.between { // a shell that does not mark prompts: this is a prompt and a command line
				r.output = r.output[:0]
			}
			if r.region == inOutput {
				r.end(time.Time{}, "") // output before the command
			}
			r.between = false
			r.entered = e.at
		}
		r.enters = true
		if r.region = inOutput; len(e.data) > 0 {
			r.told = string(e.data)
		}
	case eventExit:
		status := string(e.data)
		if strings.Trim(status, "0123456789") != "" || len(status) > len("2147483647") {
			status = ""
		}
		r.noPrompt()
		if r.region == inOutput && r.entered.IsZero() { // without a command: a shell that reports the last one with each prompt
			r.end(time.Time{}, "")
		} else {
			r.end(e.at, status)
		}
		r.region, r.between = inOutput, true
	default:
		return
	}
	r.marked = true
}

// noPrompt removes the prompt's line, and what shells print before it to make sure that it is a
// fresh one.
func (r *reader) noPrompt() {
	if r.between {
		r.output = r.output[:bytes.LastIndexByte(r.output, '\n')+1]
	}
}

// end ends the current block, if it is not empty.
func (r *reader) end(at time.Time, status string) {
	b := block{command: r.told, began: r.entered, ended: at, status: status}
	if r.entered.IsZero() {
		b.began = r.prompted
	}
	if b.command == "" {
		b.command = strings.TrimSpace(plain(r.typed(status != "")))
	}
	b.output = strings.TrimRight(plain(r.output), " \t\n")
	if b.command != "" || strings.TrimSpace(b.output) != "" {
		r.done(b)
	}
	r.entered, r.prompted, r.told, r.input, r.output = time.Time{}, time.Time{}, "", r.input[:0],
		r.output[:0]
}

// typed is the command line as the terminal echoed it. Without a mark of its entry, the text after
// its first line is output: the command's, in a shell that makes no such marks, else that of a
// background program, and the line was abandoned.
func (r *reader) typed(ended bool) []byte {
	input := bytes.Trim(r.input, "\n")
	if !r.entered.IsZero() {
		return input
	}
	line, rest, entered := bytes.Cut(bytes.TrimLeft(r.input, "\n"), []byte{'\n'})
	r.output = append(r.output, rest...)
	if r.enters && !ended || !entered && !ended {
		return nil
	}
	return line
}

// close ends the current block at the end of the log.
func (r *reader) close() {
	r.noPrompt()
	r.end(time.Time{}, "")
}
