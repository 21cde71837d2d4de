package plugins

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	// classifyLimit bounds one look of a classifier or a predicate. Real ones take a tenth of a
	// millisecond; with 50 ms, on a machine overbooked fivefold, an innocent one was stopped once
	// in some thousand looks. More makes others wait longer for a guilty one.
	classifyLimit = 250 * time.Millisecond
	// intentLimit bounds one function that a client called by name.
	intentLimit = 2 * time.Second
	// maxFailures is how many times in a row a machine may break before the instance is abandoned:
	// a plugin that breaks every time would otherwise use up its limit on every look.
	maxFailures = 3
)

// An instance is a plugin's code with its memory. One goroutine at a time is inside; others wait
// for it, at most for the limit of the current call. A machine that breaks, by a limit or a bug, is
// discarded and the next call gets a new one, without what the plugin remembered.
type instance struct {
	source *Source
	log    *slog.Logger
	inside chan struct{} // held by the goroutine inside
	// secrets are what it was shown: they outlive its machine, as its output does.
	secrets secrets

	// Only for the goroutine inside.
	machine  machine // nil: not made yet
	failures int     // in a row
	given    *PluginError
}

func newInstance(s *Source, log *slog.Logger) *instance {
	return &instance{source: s, log: log, inside: make(chan struct{}, 1)}
}

// do runs f with the machine. The error is f's, a *PluginError of loading, or the cause of ctx's
// end. A call stopped by ctx is not the plugin's fault: it loses what it remembers, since it was
// stopped in the middle, and nothing else.
func (i *instance) do(ctx context.Context, f func(m machine) error) error {
	select {
	case i.inside <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-i.inside }()
	if i.given != nil {
		return i.given
	}
	if i.machine == nil {
		m, err := newLuaMachine(i.source, i.log, &i.secrets)
		if err != nil {
			return err
		}
		i.machine = m
	}
	err := f(i.machine)
	p, _ := err.(*PluginError)
	switch {
	case err == nil:
		i.failures = 0
	case p != nil && p.cancelled != nil:
		i.machine = nil
		return p.cancelled
	case p != nil && p.fatal:
		i.machine = nil
		i.failures++
		i.log.Warn("a plugin was stopped", "error", err)
		if i.failures >= maxFailures {
			i.given = &PluginError{
				Plugin: p.Plugin, Function: p.Function, Module: p.Module, Line: p.Line,
				Kind: "dead",
				Message: fmt.Sprintf("given up after it was stopped %d times in a row: %s",
					maxFailures, p.Message),
			}
		}
	}
	return err
}

// renew makes the next call run other code, without what the plugin remembered. The error is the
// cause of ctx's end.
func (i *instance) renew(ctx context.Context, s *Source) error {
	select {
	case i.inside <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	i.source, i.machine, i.failures, i.given = s, nil, 0, nil
	<-i.inside
	return nil
}
