package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/internal/nearest"
	"github.com/ptywright/ptywright/plugins"
)

// A checker collects the faults of one plugin.
type checker struct {
	dir     string
	folder  *Folder
	outline *plugins.Outline
	out     []Finding

	states, rules map[string]bool   // that were reached
	possible      map[string]bool   // intents that did something on some screen
	known         map[string]bool   // states that describe lists, or that were reported as not listed
	faulty        bool              // the classifier fails, or returns states that are not listed
	held          int               // findings that are held back for it
	stopped       bool              // the classifier exceeded a limit: nothing more is played
	endless       map[string]bool   // intents that exceeded one: they are not asked again
	refused       map[string]string // by intent: its first refusal
	used          map[plugins.Permission]bool
}

// Check finds what is wrong with the plugin in a folder, as far as possible without its program: it
// reads manifest and Lua, loads them, and plays the cases. The error is the system's.
func Check(ctx context.Context, dir string, log *slog.Logger) (*Findings, error) {
	c := &checker{
		dir: folderOf(dir), states: map[string]bool{}, rules: map[string]bool{},
		possible: map[string]bool{}, refused: map[string]string{},
		used: map[plugins.Permission]bool{}, endless: map[string]bool{},
		known: map[string]bool{plugins.StateUnknown: true, plugins.StateError: true},
	}
	out := &Findings{Folder: c.dir, Findings: []Finding{}}
	manifest := filepath.Join(c.dir, manifestName)
	text, err := readIn(c.dir, manifestName)
	if err != nil {
		return nil, &FolderError{c.dir, err}
	}
	faults := plugins.LintManifest(text)
	for _, f := range faults {
		c.out = append(c.out,
			Finding{File: manifest, Line: f.Line, Key: f.Key, About: "manifest",
				Message: f.Err.Error(), Do: "see docs/plugins.md, The manifest"})
	}
	if len(faults) == 0 {
		if err := c.plugin(ctx, log); err != nil {
			return nil, err
		}
		out.Plugin = c.name()
	}
	slices.SortStableFunc(c.out, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	out.Findings = append(out.Findings,
		slices.CompactFunc(c.out, func(a, b Finding) bool { return a.same(&b) })...)
	out.HeldBack = c.held
	return out, nil
}

func (c *checker) name() string {
	if c.folder == nil {
		return ""
	}
	return c.folder.Source.Manifest.Name
}

// add notes a finding about a file in the plugin's folder.
func (c *checker) add(file string, line int, about, message, do string) {
	c.out = append(c.out,
		Finding{File: filepath.Join(c.dir, filepath.FromSlash(file)), Line: line, About: about,
			Message: message, Do: do})
}

// met notes a finding at a place of a case, or adds the place to the same finding.
func (c *checker) met(file string, line int, about, message, do, place string) {
	c.add(file, line, about, message, do)
	last := len(c.out) - 1
	at := slices.IndexFunc(c.out, func(f Finding) bool { return f.same(&c.out[last]) })
	if at < last {
		c.out = c.out[:last]
	}
	f := &c.out[at]
	if f.Times++; len(f.Places) < maxPlaces {
		f.Places = append(f.Places, place)
	}
}

// lacks notes what no case reaches, unless an earlier finding may be the cause.
func (c *checker) lacks(file string, line int, message, do string) {
	if c.faulty {
		c.held++
		return
	}
	c.add(file, line, "coverage", message, do)
}

// unlisted notes a state that is returned but not listed, and which listed one may be meant.
func (c *checker) unlisted(d *plugins.Description, file string, line int, who, state string) {
	c.known[state] = true
	do := "list it under states"
	if near := nearest.Of(state, listedStates(d)); near != "" {
		c.faulty = true
		do = fmt.Sprintf("did you mean %s, which it lists? else %s", near, do)
	}
	c.add(file, line, "describe",
		fmt.Sprintf("%s the state %s, which describe does not list", who, state), do)
}

// listedStates are the states in describe.
func listedStates(d *plugins.Description) []string {
	var names []string
	for _, e := range d.States {
		names = append(names, e["name"].(string))
	}
	return names
}

// file is the Lua file of a module.
func (c *checker) file(module string) string {
	if _, own := c.folder.Source.Files[module]; !own {
		return c.folder.Source.Manifest.Entrypoint
	}
	return slashed(filepath.Dir(filepath.FromSlash(c.folder.Source.Manifest.Entrypoint)),
		module+".lua")
}

func slashed(parts ...string) string { return filepath.ToSlash(filepath.Join(parts...)) }

// plugin checks everything that can be loaded.
func (c *checker) plugin(ctx context.Context, log *slog.Logger) error {
	folder, err := Open(c.dir, log)
	if err != nil {
		c.broken(err)
		return nil
	}
	c.folder = folder
	if folder.Source.Main == "" {
		return nil // a manifest that only names a target
	}
	c.outline = folder.Source.Outline()
	r, err := plugins.Rehearse(ctx, folder.Source, 24, 80, log, nil)
	if err != nil {
		c.broken(err)
		return nil
	}
	d, exports, err := r.Describe(ctx)
	if err != nil {
		c.broken(err)
		return nil
	}
	c.files()
	c.exports(d, exports)
	if err := c.cases(ctx, d); err != nil {
		return err
	}
	c.permissions(d)
	c.rechecks()
	return nil
}

// broken notes why a plugin cannot be loaded.
func (c *checker) broken(err error) {
	var load *plugins.LoadError
	var fault *plugins.PluginError
	var manifest *plugins.ManifestError
	switch {
	case errors.As(err, &fault):
		file := manifestName
		if c.folder != nil {
			file = c.file(fault.Module)
		}
		c.add(file, fault.Line, "load", fmt.Sprintf("%s: %s", fault.Kind, fault.Message),
			"the plugin does not load until this is mended")
	case errors.As(err, &manifest):
		c.out = append(c.out,
			Finding{File: filepath.Join(c.dir, manifestName), Line: manifest.Line,
				Key: manifest.Key, About: "manifest", Message: manifest.Err.Error(),
				Do: "see docs/plugins.md"})
	case errors.As(err, &load):
		c.add(load.Path, 0, "file", load.Err.Error(),
			"a plugin's files are regular files in its own folder; entrypoint names the main one")
	default:
		c.add(manifestName, 0, "load", err.Error(), "mend it")
	}
}

// files compares the files that are required with those that exist.
func (c *checker) files() {
	s := c.folder.Source
	required := map[string]bool{s.Main: true}
	for _, m := range c.outline.Requires {
		required[m.Name] = true
		if _, own := s.Files[m.Module]; own && s.Files[m.Name] == "" &&
			!strings.HasPrefix(m.Name, "ptywright") {
			c.add(c.file(m.Module), m.Line, "file",
				fmt.Sprintf("no file %s.lua to require", m.Name),
				"name one of the folder's files, without .lua")
		}
	}
	for module := range s.Files {
		if !required[module] {
			c.add(c.file(module), 0, "file", "no file of the plugin requires it",
				fmt.Sprintf("require(%q) it, or remove it", module))
		}
	}
	entries, _ := os.ReadDir(c.dir)
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			to, _ := os.Readlink(filepath.Join(c.dir, e.Name()))
			if filepath.IsAbs(to) ||
				strings.HasPrefix(filepath.ToSlash(filepath.Clean(to)), "../") {
				c.add(e.Name(), 0, "file",
					"it is a link to "+to+
						", outside of the plugin's folder, and is not followed", "copy the file here")
			}
		}
	}
}

// where is the first line that defines or names something, and its file.
func (c *checker) where(list []plugins.Mention, name string) (file string, line int) {
	for _, m := range list {
		if _, own := c.folder.Source.Files[m.Module]; own && m.Name == name {
			return c.file(m.Module), m.Line
		}
	}
	return c.folder.Source.Manifest.Entrypoint, 0
}

// exports compares what describe says with the functions that exist.
func (c *checker) exports(d *plugins.Description, exports []string) {
	main := c.folder.Source.Manifest.Entrypoint
	if !slices.Contains(exports, "describe") {
		c.add(main, 0, "export",
			"the plugin has no function describe: clients cannot tell intents from predicates, and no states are known",
			"return one; see docs/plugins.md, Waits")
		return
	}
	listed := map[string]bool{"classify": true, "describe": true}
	for _, list := range []struct {
		kind    string
		entries []map[string]any
	}{{"intent", d.Intents}, {"wait matcher", d.WaitMatchers}, {"predicate", d.Predicates}} {
		for _, e := range list.entries {
			name := e["name"].(string)
			listed[name] = true
			file, line := c.where(c.outline.Entries, name)
			matcher := strings.HasSuffix(name, "_matcher")
			switch {
			case !slices.Contains(exports, name):
				c.add(file, line, "describe",
					fmt.Sprintf("describe lists the %s %s, which is not a function of the plugin",
						list.kind, name), "export it, or take it out of describe")
			case matcher != (list.kind == "wait matcher"):
				c.add(file, line, "describe",
					fmt.Sprintf("describe lists %s as %s: names of wait matchers end in _matcher, and no others", name, list.kind), "rename it, or list it elsewhere")
			case list.kind == "predicate" &&
				!slices.ContainsFunc(c.outline.Predicates,
					func(m plugins.Mention) bool { return m.Name == name }):
				c.add(file, line, "describe",
					fmt.Sprintf("no matcher of the plugin asks the predicate %s", name),
					"use it with ptywright.matcher.predicate, or take it out")
			}
		}
	}
	for _, name := range exports {
		if !listed[name] {
			file, line := c.where(c.outline.Defined, name)
			c.add(file, line, "export",
				fmt.Sprintf("the function %s is exported, and describe does not list it: it counts as an intent that nobody knows of", name), "list it under intents or predicates, or do not return it")
		}
	}
	for _, m := range c.outline.Predicates {
		if m.Name != "" && !slices.Contains(exports, m.Name) {
			c.add(c.file(m.Module), m.Line, "export",
				fmt.Sprintf("a matcher asks the predicate %s, which is not a function of the plugin: the wait would fail", m.Name), "export it")
		}
	}
	if len(d.WaitMatchers) > 0 && !slices.Contains(exports, plugins.DefaultMatcher) {
		c.add(main, 0, "export",
			"there is no "+plugins.DefaultMatcher+
				": adapter.wait has nothing to wait for when it is not told", "export one; it may be another one's function")
	}
	for _, name := range listedStates(d) {
		c.known[name] = true
	}
	for _, m := range c.outline.Rules {
		if m.State != "" && !c.known[m.State] {
			c.unlisted(d, c.file(m.Module), m.Line, fmt.Sprintf("rule %s gives", m.Name), m.State)
		}
	}
}

// cases plays every case, and notes what no case reaches.
func (c *checker) cases(ctx context.Context, d *plugins.Description) error {
	cases, faults := c.folder.Cases(nil)
	for _, f := range faults {
		rel, err := filepath.Rel(c.dir, f.Path)
		if err != nil {
			rel = f.Path
		}
		c.add(rel, f.Line, "case", f.Err.Error(), "ptywright plugin test reads it")
	}
	if len(cases) == 0 {
		c.add(casesDir, 0, "coverage", "there are no cases: nothing shows that a rule ever decides",
			fmt.Sprintf("record one with ptywright plugin run --record NAME %s", c.dir))
		return nil
	}
	for _, k := range cases {
		if k.Expected == nil {
			c.add(slashed(casesDir, filepath.Base(k.Path)), 0, "case",
				"nothing says what is expected of it", "ptywright plugin test --update "+c.dir+
					", and review what it writes")
		}
		if err := c.play(ctx, k, d); err != nil {
			return err
		}
		if c.stopped { // each further look would hit the limit again, and show nothing new
			break
		}
		if err := c.intents(ctx, k, d); err != nil {
			return err
		}
	}
	record := fmt.Sprintf("record or write a case where it is so (ptywright plugin run --record NAME %s), or take it out", c.dir)
	for _, m := range c.outline.Rules {
		if _, own := c.folder.Source.Files[m.Module]; own && !c.rules[m.Name] {
			c.lacks(c.file(m.Module), m.Line, fmt.Sprintf("rule %s decides in no case", m.Name),
				record)
		}
	}
	for _, name := range listedStates(d) {
		if !c.states[name] && name != plugins.StateUnknown {
			file, line := c.where(c.outline.Entries, name)
			c.lacks(file, line,
				fmt.Sprintf("describe lists the state %s, which no case reaches", name), record)
		}
	}
	for _, e := range d.Intents {
		if name := e["name"].(string); !c.possible[name] {
			file, line := c.where(c.outline.Entries, name)
			c.lacks(file, line,
				fmt.Sprintf("the intent %s does nothing in any state that the cases reach, and refuses first with: %s", name, c.refused[name]), record)
		}
	}
	return nil
}

// play notes which states and rules a case reaches.
func (c *checker) play(ctx context.Context, k *Case, d *plugins.Description) error {
	path, listed := slashed(casesDir, filepath.Base(k.Path)), listedStates(d)
	playing, enough := context.WithCancel(ctx)
	defer enough()
	err := c.folder.play(playing, k, func(at time.Duration, s *plugins.State, v *engine.View) {
		c.states[s.State], c.rules[s.Rule] = true, true
		c.faulty = c.faulty || s.State != plugins.StateUnknown && !slices.Contains(listed, s.State)
		switch {
		case s.State == plugins.StateError:
			e, _ := s.Metadata["error"].(map[string]any)
			module, _ := e["module"].(string)
			line, _ := e["line"].(int64)
			if kind, _ := e["kind"].(string); limits[kind] {
				c.stopped = true
				enough()
			}
			c.met(c.file(module), int(line), "load", fmt.Sprint(e["message"]),
				"an error in a classifier costs the state: mend it",
				fmt.Sprintf("%s, at %v", path, at))
		case !c.known[s.State]:
			file, line := c.where(c.outline.States, s.State)
			c.unlisted(d, file, line, path+" reaches", s.State)
		}
		if s.Recheck() > 0 && s.Recheck() < plugins.KeepFloor {
			c.met(c.folder.Source.Manifest.Entrypoint, 0, "recheck",
				fmt.Sprintf("rule %s asks to be looked at again after %v", s.Rule, s.Recheck()),
				floorAdvice, fmt.Sprintf("%s, at %v", path, at))
		}
		if len(s.Marks) > 0 {
			c.used[plugins.TranscriptRead] = true
		}
	})
	if c.stopped {
		return ctx.Err()
	}
	return err
}

// limits are the error kinds of a plugin that exceeded a limit, which takes until the limit, often
// seconds.
var limits = map[string]bool{"time": true, "memory": true, "patterns": true, "dead": true}

var floorAdvice = fmt.Sprintf("the host looks at most every %v: give %d or more, or leave it out",
	plugins.KeepFloor, plugins.KeepFloor.Milliseconds())

// intents asks every intent what it would do, each time the state has changed.
func (c *checker) intents(ctx context.Context, k *Case, d *plugins.Description) error {
	var changes []time.Duration
	last := ""
	err := c.folder.play(ctx, k, func(at time.Duration, s *plugins.State, _ *engine.View) {
		if s.State != last && len(changes) < maxStops {
			last = s.State
			changes = append(changes, at)
		}
	})
	if err != nil {
		return err
	}
	ask := func(r *plugins.Rehearsal) error {
		for _, e := range d.Intents {
			name := e["name"].(string)
			if c.endless[name] {
				continue
			}
			p, err := r.Plan(ctx, name, sample(e["params_schema"]))
			var denied *plugins.PermissionError
			var fault *plugins.PluginError
			switch {
			case err == nil:
				c.possible[name] = true
				for _, kind := range slices.Concat(p.Actions, p.Submit) {
					c.used[plugins.ActionPermission(kind)] = true
				}
			case errors.As(err, &denied):
				c.possible[name] = true
				file, line := c.where(c.outline.Defined, name)
				c.add(file, line, "permission",
					fmt.Sprintf("the intent %s returns the action %s, for which the manifest does not ask", name, denied.Action), fmt.Sprintf("add %q to permissions", denied.Permission))
			case errors.As(err, &fault) && limits[fault.Kind]:
				c.endless[name], c.faulty = true, true
				c.add(c.file(fault.Module), fault.Line, "load",
					fmt.Sprintf("the intent %s was stopped: %s", name, fault.Message),
					"fix it: clients that ask for it wait this long for nothing")
			case c.refused[name] == "":
				c.refused[name] = refusal(err)
			}
		}
		return nil
	}
	var stops []stop
	for _, at := range changes {
		stops = append(stops, stop{at, ask})
	}
	return c.folder.play(ctx, k, nil, append(stops, stop{atEnd, ask})...)
}

// refusal is why an intent did nothing, in the plugin's own words if it has some.
func refusal(err error) string {
	var fault *plugins.PluginError
	if errors.As(err, &fault) && fault.Code != "" {
		return fault.Message
	}
	return err.Error()
}

// maxStops bounds the moments of a case at which intents are tried: states repeat.
const maxStops = 64

// sample makes params that fit a schema, as far as describe specifies it.
func sample(schema any) map[string]any {
	out := map[string]any{}
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range required {
		name, _ := name.(string)
		p, _ := properties[name].(map[string]any)
		switch p["type"] {
		case "integer", "number":
			out[name] = int64(1)
		case "boolean":
			out[name] = true
		case "array":
			out[name] = []any{}
		default:
			out[name] = "x"
			if list, ok := p["enum"].([]any); ok && len(list) > 0 {
				out[name] = list[0]
			}
		}
	}
	return out
}

// permissions compares the permissions in the manifest with those used.
func (c *checker) permissions(d *plugins.Description) {
	m := c.folder.Source.Manifest
	for _, a := range c.outline.Actions {
		p := plugins.ActionPermission(a.Name)
		if _, own := c.folder.Source.Files[a.Module]; p == "" {
			if own {
				c.add(c.file(a.Module), a.Line, "permission", fmt.Sprintf("no action %s", a.Name),
					"see docs/plugins.md, Actions")
			}
			continue
		}
		c.used[p] = true
		if !m.Allows(p) {
			c.add(c.file(a.Module), a.Line, "permission",
				fmt.Sprintf("the action %s needs the permission %s, for which the manifest does not ask", a.Name, p), fmt.Sprintf("add %q to permissions", p))
		}
	}
	for p, why := range map[plugins.Permission]string{
		plugins.SessionSpawn: "adapter.start needs it",
		plugins.SessionKill:  "adapter.close needs it", plugins.ScreenRead: "adapter.state needs it",
	} {
		if m.Kind == plugins.KindAdapter && !m.Allows(p) {
			c.line("permission", "permissions",
				fmt.Sprintf("an adapter without %s is of no use: %s", p, why),
				fmt.Sprintf("add %q to permissions", p))
		}
	}
	if len(d.WaitMatchers) > 0 && !m.Allows(plugins.MatcherWait) {
		c.line("permission", "permissions",
			"describe lists wait matchers, and without matcher.wait nobody may wait",
			`add "matcher.wait" to permissions`)
	}
	if len(d.WaitMatchers) > 0 {
		c.used[plugins.MatcherWait] = true
	}
	for _, p := range []plugins.Permission{plugins.InputWrite, plugins.SessionResize,
		plugins.MatcherWait} {
		if m.Allows(p) && !c.used[p] {
			c.line("permission", "permissions",
				fmt.Sprintf("the manifest asks for %s, and nothing of the plugin needs it", p),
				"take it out: a plugin that may less is trusted more")
		}
	}
}

// line adds a finding about a key of the manifest.
func (c *checker) line(about, key, message, do string) {
	path := filepath.Join(c.dir, manifestName)
	text, _ := readIn(c.dir, manifestName)
	c.out = append(c.out,
		Finding{File: path, Line: plugins.ManifestLine(text, key), Key: key, About: about,
			Message: message, Do: do})
}

// rechecks checks the values written for recheck_ms.
func (c *checker) rechecks() {
	for _, r := range c.outline.Rechecks {
		n, err := strconv.ParseFloat(r.MS, 64)
		if _, own := c.folder.Source.Files[r.Module]; own && err == nil &&
			n < float64(plugins.KeepFloor.Milliseconds()) {
			c.add(c.file(r.Module), r.Line, "recheck", fmt.Sprintf("recheck_ms is %s", r.MS),
				floorAdvice)
		}
	}
}
