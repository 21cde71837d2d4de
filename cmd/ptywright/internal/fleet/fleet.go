// Package fleet drives many instances of `ptywright unterm` at once: it starts, lists, tags, asks,
// waits for and stops those that are registered under one root. [Fleet] is the entry point. It
// knows the root's files and the instances' wire, and keeps no state between calls.
//
// The token of an instance is used to log in to a connection and nowhere else: not in arguments,
// results, errors or logs.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ptywright/ptywright/protocol/unterm/instance"
)

// ErrTimeout says that the caller's deadline passed.
var ErrTimeout = errors.New("timed out")

// ErrNone says that there is no instance at all.
var ErrNone = errors.New("no instance is running")

// A Fleet is the instances under one root. Methods may be called concurrently; each call uses
// connections of its own, one per instance, in parallel.
type Fleet struct {
	Root string // absolute
}

// A NoInstanceError says that no live instance has one of the names, or the tag.
type NoInstanceError struct {
	Missing []string // names, or the tag alone
	Tag     bool     // Missing is a tag
	There   []string // existing names; with a tag, those searched, each with its title
}

func (e *NoInstanceError) Error() string {
	what := "called " + strings.Join(e.Missing, ", ")
	if e.Tag {
		what = fmt.Sprintf("tagged %q", e.Missing[0])
	}
	if len(e.There) == 0 {
		return fmt.Sprintf("no instance is %s: none is running", what)
	}
	return fmt.Sprintf("no instance is %s: there are %s", what, strings.Join(e.There, ", "))
}

// A Selection says which instances are meant. The zero value means all.
type Selection struct {
	Names []string
	Tag   string // with this title, or with this in brackets
}

// pick returns the records of a selection, in the order of its names. Errors: [*NoInstanceError],
// [ErrNone], and those of reading the root.
func (f Fleet) pick(s Selection) ([]instance.Record, error) {
	records, err := instance.List(f.Root)
	if err != nil {
		return nil, err
	}
	if len(s.Names) > 0 {
		if records, err = called(records, s.Names); err != nil {
			return nil, err
		}
	}
	if s.Tag != "" {
		return tagged(records, s.Tag)
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%w under %s: ptywright fleet start begins some", ErrNone, f.Root)
	}
	return records, nil
}

// called returns the records of the instances with these names, all of which must exist.
func called(records []instance.Record, names []string) ([]instance.Record, error) {
	var there []string
	var found []instance.Record
	for _, r := range records {
		there = append(there, r.ID)
		if slices.Contains(names, r.ID) {
			found = append(found, r)
		}
	}
	missing := slices.DeleteFunc(slices.Clone(names),
		func(name string) bool { return slices.Contains(there, name) })
	if len(missing) > 0 {
		return nil, &NoInstanceError{Missing: missing, There: there}
	}
	return found, nil
}

// tagged returns the records with a title. A tag worker also matches [worker]: titles are written
// in brackets to stand out among window titles.
func tagged(records []instance.Record, tag string) ([]instance.Record, error) {
	var there []string
	var found []instance.Record
	for _, r := range records {
		there = append(there, strings.TrimSpace(r.ID+" "+string(r.Title)))
		if r.Title == instance.Optional(tag) || r.Title == instance.Optional("["+tag+"]") {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return nil, &NoInstanceError{Missing: []string{tag}, Tag: true, There: there}
	}
	return found, nil
}

// each runs f for every record in parallel and passes each result to done, one at a time, as it
// arrives.
func each[T any](ctx context.Context, records []instance.Record,
	f func(context.Context, instance.Record) T, done func(T)) {
	results := make(chan T)
	var wg sync.WaitGroup
	for _, r := range records {
		wg.Go(func() { results <- f(ctx, r) })
	}
	go func() {
		wg.Wait()
		close(results)
	}()
	for r := range results {
		done(r)
	}
}
