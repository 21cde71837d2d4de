package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptywright/ptywright/internal/lazy"
)

// A panel is one workload of the chart.
type panel struct {
	title    string
	workload string // its row in the table
	unit     string
	more     bool // more is better
	dots     []dot
}

// A dot is one tool's figure.
type dot struct {
	tool  string
	value float64
}

// figures are what a chart shows.
type figures struct {
	date   string
	panels []panel
}

// panels are the workloads that decide which tool one takes: how fast it answers, how much output it
// keeps up with, and what a session costs.
var panels = []panel{
	{title: "Answer to a wait", workload: "wait, idle", unit: "ms"},
	{title: "Full-screen output", workload: "throughput, full screen", unit: "MB/s", more: true},
	{title: "Memory a session", workload: "1,000 sessions", unit: "KiB each"},
}

// tools are the columns shown, each with its name on the chart. Columns that are a second way into
// the same tool, or a yardstick rather than a tool, are left to the table.
var tools = []struct{ column, name string }{
	{"ptywright, socket", ours}, {"tmux -C", "tmux -C"}, {"tmux", "tmux"},
	{"node-pty + xterm", "node-pty + xterm"}, {"tui-test", "tui-test"}, {"pexpect", "pexpect *"},
	{"expect", "expect *"},
}

const ours = "ptywright"

var dated = lazy.Regexp(`one full\s+run of (\d{4}-\d{2}-\d{2})`)

// read takes the figures from the page's first table.
func read(page string) (*figures, error) {
	date := dated().FindStringSubmatch(page)
	if date == nil {
		return nil, errors.New("it does not say of what date its run is")
	}
	var columns []string
	rows := map[string][]string{}
	for line := range strings.Lines(page) {
		cells, ok := row(line)
		switch {
		case !ok && columns != nil:
			return fill(date[1], columns, rows)
		case !ok:
		case columns == nil:
			columns = cells
		default:
			rows[cells[0]] = cells
		}
	}
	return nil, errors.New("it has no table")
}

// row splits a line of a table.
func row(line string) (cells []string, ok bool) {
	line, ok = strings.CutPrefix(strings.TrimSpace(line), "|")
	if !ok {
		return nil, false
	}
	for cell := range strings.SplitSeq(strings.TrimSuffix(line, "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells, true
}

func fill(date string, columns []string, rows map[string][]string) (*figures, error) {
	f := &figures{date: date}
	for _, p := range panels {
		cells := rows[p.workload]
		if len(cells) != len(columns) || cells[1] != p.unit {
			return nil, fmt.Errorf("its table has no row %q in %s", p.workload, p.unit)
		}
		for _, t := range tools {
			at := slices.Index(columns, t.column)
			if at < 0 {
				return nil, fmt.Errorf("its table has no column %q", t.column)
			}
			v, err := strconv.ParseFloat(strings.ReplaceAll(cells[at], ",", ""), 64)
			if err != nil || v <= 0 {
				return nil, fmt.Errorf("%s of %s: %q is not a figure", p.workload, t.column, cells[at])
			}
			p.dots = append(p.dots, dot{t.name, v})
		}
		slices.SortStableFunc(p.dots, func(a, b dot) int {
			if (a.value < b.value) != p.more {
				return -1
			}
			return 1
		})
		f.panels = append(f.panels, p)
	}
	return f, nil
}
