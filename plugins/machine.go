package plugins

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/ptywright/ptywright/internal/sandbox"
	"github.com/ptywright/ptywright/redact"
)

// A machine runs the code of one instance of a plugin. One goroutine may use it at a time. There is
// one implementation, in this process; one in a separate process would implement the same
// interface.
type machine interface {
	// call calls a function of the plugin with what it sees, preceded by params unless they are
	// nil. It ends at the limit and when ctx does. The error is a *PluginError.
	call(ctx context.Context, function string, limit time.Duration, l *look,
		params any) (any, error)
	// has reports whether the plugin exports a function.
	has(function string) bool
	// names returns the names of the exported functions, sorted.
	names() []string
}

// A PluginError says which plugin failed and how, in which function and where.
type PluginError struct {
	Plugin   string
	Function string // the function called; "main chunk" while loading
	Module   string // the file it happened in, without its extension; "" when unknown
	Line     int    // from 1; 0 when unknown
	Kind     string // syntax, runtime, time, memory, patterns, output, panic, dead, busy or missing; result: see Message
	Code     string // the plugin's own error code, if it refused something
	Message  string // may quote the plugin, and so the screen
	fatal    bool
	// cancelled is why the call was stopped when the caller has gone; nil: it was not.
	cancelled error
}

// Error names plugin, function and line.
func (e *PluginError) Error() string {
	at := ""
	if e.Module != "" {
		at = fmt.Sprintf(" at %s.lua:%d", e.Module, e.Line)
	}
	return fmt.Sprintf("plugin %s, function %s%s: %s: %s", e.Plugin, e.Function, at, e.Kind,
		e.Message)
}

// resultError is an error about what a plugin's function returned.
func resultError(plugin, function, format string, args ...any) *PluginError {
	return &PluginError{Plugin: plugin, Function: function, Kind: "result",
		Message: fmt.Sprintf(format, args...)}
}

//go:embed library.lua
var library string

//go:embed agent.lua
var agentLibrary string

//go:embed prompt.lua
var promptLibrary string

//go:embed submit.lua
var submitLibrary string

// libraries are the modules that plugins can require by name: each is compiled only for plugins
// that name it.
var libraries = map[string]string{
	"ptywright.agent": agentLibrary, "ptywright.prompt": promptLibrary,
	"ptywright.submit": submitLibrary,
}

const (
	// libraryModule is the module name of the library; a plugin's own file cannot have it.
	libraryModule = "ptywright"
	// startModule begins a plugin: it makes the library a global and runs the entrypoint.
	startModule = "ptywright.start"
)

// luaMachine is a machine in this process.
type luaMachine struct {
	plugin string
	vm     *sandbox.VM
	look   *look // during a call
	object *sandbox.Object
}

// modules returns the plugin's files and the libraries that they, or those libraries, name.
func (s *Source) modules() map[string]string {
	modules := maps.Clone(s.Files)
	var add func(text string)
	add = func(text string) {
		for name, library := range libraries {
			if _, there := modules[name]; !there && strings.Contains(text, name) {
				modules[name] = library
				add(library)
			}
		}
	}
	for _, text := range s.Files {
		add(text)
	}
	return modules
}

// compile compiles a plugin. The error is a *[sandbox.Error].
func (s *Source) compile() (*sandbox.Program, error) {
	modules := s.modules()
	if _, taken := modules[libraryModule]; taken {
		return nil, &sandbox.Error{Function: "main chunk", Kind: sandbox.Syntax,
			Message: libraryModule + ".lua is the host's name: call the file otherwise"}
	}
	modules[libraryModule] = library
	modules[startModule] = fmt.Sprintf("ptywright = require(%q)\nreturn require(%q)", libraryModule,
		s.Main)
	return sandbox.Compile(modules, startModule)
}

// newLuaMachine makes a machine of a plugin and runs its main chunk. What it prints goes to log,
// without the secrets that it has been shown; shown may be nil. The error is a *PluginError.
func newLuaMachine(s *Source, log *slog.Logger, shown *secrets) (machine, error) {
	name := s.Manifest.Name
	m := &luaMachine{plugin: name, look: blank}
	program, err := s.compiled()
	if err != nil {
		return nil, m.fault(err)
	}
	vm, err := program.New(sandbox.Options{
		Log: func(line string) {
			if shown != nil {
				line = redact.NewFinder(shown.known()).Hide(line)
			}
			log.Info("plugin says", "plugin", name, "line", line)
		},
	})
	if err != nil {
		return nil, m.fault(err)
	}
	m.vm = vm
	m.object = newObject(vm, &m.look)
	return m, nil
}

func (m *luaMachine) has(function string) bool { return m.vm.Has(function) }
func (m *luaMachine) names() []string          { return m.vm.Names() }

func (m *luaMachine) call(ctx context.Context, function string, limit time.Duration, l *look,
	params any) (any, error) {
	var args []any
	if params != nil {
		args = append(args, params)
	}
	if l != nil {
		m.look = l
		m.object.Reset()
		args = append(args, m.object)
	}
	result, err := m.vm.Call(ctx, function, limit, args...)
	m.look = blank
	if err != nil {
		p := m.fault(err)
		if p.fatal && ctx.Err() != nil {
			p.cancelled = context.Cause(ctx)
		}
		return nil, p
	}
	return result, nil
}

// fault adds the plugin to an error of the sandbox.
func (m *luaMachine) fault(err error) *PluginError {
	e, ok := err.(*sandbox.Error)
	if !ok { // it returns only those
		return &PluginError{Plugin: m.plugin, Kind: "runtime", Message: err.Error(), fatal: true}
	}
	return &PluginError{
		Plugin: m.plugin, Function: e.Function, Module: e.Module, Line: e.Line,
		Kind: string(e.Kind), Code: e.Code, Message: e.Message, fatal: e.Fatal(),
	}
}
