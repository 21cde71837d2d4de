package plugins

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	// classifyLimit bounds one look of a classifier or a predicate. Real ones take a tenth of a millisecond; at 50 ms a machine
	// that was five times overbooked stopped one that was innocent, once in some thousand looks. More makes others wait
	// longer for one that is not.
	classifyLimit = 250 * time.Millisecond
	// intentLimit bounds one function that a client asked for by name.
	intentLimit = 2 * time.Second
	// maxFailures is how many times in a row a machine may break before the instance is given up: a plugin that breaks every
	// time would otherwise take its limit of every look.
	maxFailures = 3
)

// An instance is a plugin's code with its memory. One goroutine at a time is inside; others wait for it, at most for the limit
// of what is being called. A machine that breaks, by a limit or a defect, is thrown away and the next call gets a new one,
// without what the plugin remembered.
type instance struct {
	source *Source
	log    *slog.Logger
	inside chan struct{} // held by who is inside
	// secrets are what it was shown: they outlive its machine, as what it said does.
	secrets secrets

	// Of who is inside.
	machine  machine // nil: to be made
	failures int     // in a row
	given    *PluginError
}

func newInstance(s *Source, log *slog.Logger) *instance {
	return &instance{source: s, log: log, inside: make(chan struct{}, 1)}
}

// do runs f with the machine. The error is f's, a *PluginError of loading, or the cause of ctx's end. A call that ctx has ended
// says nothing of the plugin: it loses what it remembers, since it was stopped in the middle, and that is all.
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
				Plugin: p.Plugin, Function: p.Function, Module: p.Module, Line: p.Line, Kind: "dead",
				Message: fmt.Sprintf("given up after it was stopped %d times in a row: %s", maxFailures, p.Message),
			}
		}
	}
	return err
}

// renew has the next call run other code, without what the plugin remembered. The error is the cause of ctx's end.
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

// call is do with one call in it.
func (i *instance) call(ctx context.Context, function string, limit time.Duration, l *look, params any) (result any, err error) {
	err = i.do(ctx, func(m machine) error {
		result, err = m.call(ctx, function, limit, l, params)
		return err
	})
	return result, err
}
