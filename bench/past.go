//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine/vt"
)

// busySessions is how many sessions print at once while their memory is measured.
const busySessions = 64

// busyText is what each of them prints, in bytes: three times what a session keeps.
const busyText = 400 << 10

// drawFrame is a frame of a program that draws its whole screen each time, as most do: from the top,
// row by row.
func drawFrame(r *rand.Rand, i int, b *strings.Builder) {
	b.WriteString("\x1b[H")
	for row := range 23 {
		fmt.Fprintf(b, "\x1b[3%dm%-40.40s\x1b[0m %08d\x1b[K\r\x1b[B", 1+row%7, words[r.IntN(len(words))], i+row)
	}
	b.WriteString("\x1b[?25h")
}

// past measures what a session's past costs and what asking it takes: one screen of it, and a search
// of all of it, beside a bare terminal that parses the same output again from the beginning; and the
// processor time and memory of sessions that keep theirs, beside those that keep none.
func (b *bench) past() (rows []row, err error) {
	file := filepath.Join(b.dir, "frames")
	if err := generate(file, drawFrame, b.frames); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var at, spent, again, search, search0 []float64
	err = b.on(b.subject, func(server *server, w *conn) error {
		session, err := w.create(object{"program": b.self, "args": []string{"child", "pieces", file},
			"transcript_max_chars": 2*len(text) + 1<<10})
		if err != nil {
			return err
		}
		if err := w.wait(session, "DRAWN"); err != nil {
			return err
		}
		newest, err := w.kept(session)
		if err != nil {
			return err
		}
		for range b.repeats * b.samples {
			seq := rand.Uint64N(newest + 1)
			used, err := server.busy()
			if err != nil {
				return err
			}
			begin := time.Now()
			if err := w.call("session.snapshot", object{"session": session, "at": seq, "cells": "none"}, nil); err != nil {
				return err
			}
			at = append(at, milliseconds(time.Since(begin)))
			later, err := server.busy()
			if err != nil {
				return err
			}
			spent = append(spent, milliseconds(later-used))
			begin = time.Now()
			replay(text[:uint64(len(text))*seq/max(newest, 1)], nil)
			again = append(again, milliseconds(time.Since(begin)))
		}
		return b.alternate(func() error {
			begin := time.Now()
			defer func() { search = append(search, milliseconds(time.Since(begin))) }()
			return w.searchPast(session, "nowhere")
		}, func() error {
			begin := time.Now()
			defer func() { search0 = append(search0, milliseconds(time.Since(begin))) }()
			found := false
			replay(text, func(s *vt.Screen) { found = found || strings.Contains(s.Text(), "nowhere") })
			if found {
				return errors.New("found what is nowhere")
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	size := fmt.Sprintf("%d KiB of redraw", len(text)>>10)
	o, l := median(at), median(again)
	p, q, x := quantile(at, 0.99), quantile(again, 0.99), quantile(spent, 0.99)
	s, n := median(search), median(search0)
	rows = append(rows,
		row{"screen as it was, in " + size, fmt.Sprintf("%.2f ms", o),
			fmt.Sprintf("%.2f ms, bare replay", l), o / l, "", false},
		row{"screen as it was, p99", fmt.Sprintf("%.2f ms", p),
			fmt.Sprintf("%.2f ms, bare replay", q), p / q, "", false},
		row{"screen as it was, processor time, p99", fmt.Sprintf("%.2f ms", x),
			fmt.Sprintf("%.2f ms, median", median(spent)), 0, "under 2 ms", x < 2},
		row{"search of each moment of " + size, fmt.Sprintf("%.1f ms", s),
			fmt.Sprintf("%.1f ms, bare replay", n), s / n, "under 50 ms", s < 50})
	kept, err := b.keptWhilePrinting()
	if err != nil {
		return nil, err
	}
	busy, err := b.keptByBusySessions()
	return append(append(rows, kept...), busy), err
}

// replay parses a text with a terminal alone, piece by piece, and shows each screen.
func replay(text []byte, look func(*vt.Screen)) {
	t := vt.New(24, 80, vt.Options{})
	for len(text) > 0 {
		n := min(len(text), pieceSize)
		t.Feed(text[:n])
		if text = text[n:]; look != nil {
			look(t.Snapshot())
		}
	}
}

// kept returns the newest sequence of a session of which everything is kept.
func (c *conn) kept(session string) (newest uint64, err error) {
	var r struct {
		Sequence uint64
		KeptFrom uint64 `json:"kept_from"`
	}
	err = c.call("session.snapshot", object{"session": session, "at": object{"ago_ms": 0}, "cells": "none"}, &r)
	if err == nil && r.KeptFrom > 0 {
		err = fmt.Errorf("what came before sequence %d of %d has been dropped", r.KeptFrom, r.Sequence)
	}
	return r.Sequence, err
}

// searchPast asks when a text that was never there was on the screen, until all has been looked at.
func (c *conn) searchPast(session, text string) error {
	params := object{"session": session, "which": "all", "matcher": object{"type": "contains_text", "value": text}}
	for {
		var r struct {
			Spans    []object
			Complete bool
			Next     *string
		}
		if err := c.call("session.history", params, &r); err != nil {
			return err
		}
		switch {
		case len(r.Spans) > 0:
			return errors.New("session.history: found what is nowhere")
		case r.Complete:
			return nil
		case r.Next == nil:
			return errors.New("session.history: part of it has been dropped")
		}
		params["next"] = *r.Next
	}
}

// keptWhilePrinting measures the processor time of a megabyte in a session that keeps its past,
// beside one that keeps none.
func (b *bench) keptWhilePrinting() (rows []row, err error) {
	for _, c := range corpora {
		if c.name != "plain" && c.name != "redraw" {
			continue
		}
		file := filepath.Join(b.dir, "corpus")
		if err := generate(file, c.unit, b.mb*1e6); err != nil {
			return nil, err
		}
		var with, without []float64
		one := func(s *server, w *conn, params object, costs *[]float64) error {
			params["program"], params["args"] = "/bin/sh", []string{"-c", `read go; cat "$0"; printf 'OUT-%s' OVER`, file}
			session, err := w.create(params)
			if err != nil {
				return err
			}
			used, err := s.busy()
			if err != nil {
				return err
			}
			if err := w.send(session, "\n"); err != nil {
				return err
			}
			if err := w.wait(session, "OUT-OVER"); err != nil {
				return err
			}
			later, err := s.busy()
			*costs = append(*costs, milliseconds(later-used)/float64(b.mb))
			return errors.Join(err, w.end(session))
		}
		err := b.on(b.subject, func(s *server, w *conn) error {
			return b.alternate(func() error { return one(s, w, object{}, &with) },
				func() error { return one(s, w, object{"history_max_bytes": 0}, &without) })
		})
		if err != nil {
			return nil, err
		}
		o, l := median(with), median(without)
		rows = append(rows, row{"processor time with the past, " + c.name, fmt.Sprintf("%.2f ms/MB", o),
			fmt.Sprintf("%.2f ms/MB, without", l), o / l, "at most 1.03", o/l <= 1.03})
	}
	return rows, nil
}

// keptByBusySessions measures the memory of sessions that have all printed more than they keep,
// beside those that keep no past. The bar is a past's bound, with as much again for the collector of
// garbage, which lets a heap grow to twice what is in use.
func (b *bench) keptByBusySessions() (row, error) {
	file := filepath.Join(b.dir, "busy")
	if err := generate(file, drawFrame, min(busyText, b.frames)); err != nil {
		return row{}, err
	}
	sessions := min(busySessions, b.sessions)
	var with, without []float64
	one := func(params object, samples *[]float64) func() error {
		return func() error {
			return b.on(b.subject, func(s *server, w *conn) error {
				before, err := s.kilobytes("VmRSS")
				if err != nil {
					return err
				}
				var all []string
				for range sessions {
					params["program"], params["args"] = b.self, []string{"child", "pieces", file}
					session, err := w.create(params)
					if err != nil {
						return err
					}
					all = append(all, session)
				}
				for _, session := range all {
					if err := w.wait(session, "DRAWN"); err != nil {
						return err
					}
				}
				after, err := s.kilobytes("VmRSS")
				*samples = append(*samples, (after-before)/float64(sessions))
				return err
			})
		}
	}
	if err := b.alternate(one(object{}, &with), one(object{"history_max_bytes": 0}, &without)); err != nil {
		return row{}, err
	}
	o, l := median(with), median(without)
	return row{fmt.Sprintf("%d busy sessions, resident each", sessions), fmt.Sprintf("%.0f KiB", o),
		fmt.Sprintf("%.0f KiB, without their past", l), o / l, "at most 256 KiB more", o-l <= 256}, nil
}

// busy is the processor time of the server, to the nanosecond, but for that of threads that have
// ended, of which Go has few.
func (s *server) busy() (sum time.Duration, err error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.cmd.Process.Pid))
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if errors.Is(err, os.ErrNotExist) {
			continue // it has just ended
		}
		var ran time.Duration
		if _, scan := fmt.Fscan(bytes.NewReader(b), &ran); err != nil || scan != nil {
			return 0, fmt.Errorf("%s: %w", task, errors.Join(err, scan))
		}
		sum += ran
	}
	if sum == 0 && err == nil {
		err = errors.New("/proc/PID/task/*/schedstat: the kernel counts nothing")
	}
	return sum, err
}
