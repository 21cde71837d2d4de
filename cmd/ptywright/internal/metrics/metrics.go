// Package metrics writes counts in the text format of Prometheus, version 0.0.4. [Page] is the
// entry point. It keeps no counts of its own.
package metrics

import (
	"fmt"
	"strconv"
	"strings"
)

// ContentType is the media type of a page.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// A Page collects metrics. Its zero value is empty and ready; it is not safe for concurrent use.
type Page struct{ b strings.Builder }

// A Sample is one number of a metric, with the value of its label where the metric has one.
type Sample struct {
	Label string
	Value float64
}

// Counter adds a metric that only grows. Names end in _total by convention.
func (p *Page) Counter(name, help string, value int64) {
	p.metric(name, help, "counter", "", Sample{Value: float64(value)})
}

// Counters adds a counter for each value of a label. The values must be few, and not chosen by a
// program.
func (p *Page) Counters(name, help, label string, samples ...Sample) {
	p.metric(name, help, "counter", label, samples...)
}

// Gauge adds a metric that goes up and down.
func (p *Page) Gauge(name, help string, value float64) {
	p.metric(name, help, "gauge", "", Sample{Value: value})
}

// Info adds a gauge of 1 whose label holds a text.
func (p *Page) Info(name, help, label, value string) {
	p.metric(name, help, "gauge", label, Sample{Label: value, Value: 1})
}

// helpEscapes and labelEscapes are the characters that the format escapes in each.
var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func (p *Page) metric(name, help, kind, label string, samples ...Sample) {
	fmt.Fprintf(&p.b, "# HELP %s %s\n# TYPE %s %s\n", name, helpEscapes.Replace(help), name, kind)
	for _, s := range samples {
		p.b.WriteString(name)
		if label != "" {
			fmt.Fprintf(&p.b, `{%s="%s"}`, label, labelEscapes.Replace(s.Label))
		}
		p.b.WriteString(" " + strconv.FormatFloat(s.Value, 'f', -1, 64) + "\n")
	}
}

// String returns the page.
func (p *Page) String() string { return p.b.String() }
