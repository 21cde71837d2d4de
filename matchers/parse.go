package matchers

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/ptywright/ptywright/engine"
	"github.com/ptywright/ptywright/engine/locate"
	"github.com/ptywright/ptywright/engine/vt"
	"github.com/ptywright/ptywright/internal/tree"
)

// Bounds of a matcher from outside. A tree that a person or a plugin writes has a handful of nodes.
const (
	MaxDepth   = 32      // levels of any, all and not; the design's bound
	MaxNodes   = 256     // matchers in one tree: each is checked at every change
	MaxPattern = 4 << 10 // bytes of a regular expression, with which its program grows
	// MaxProgram is in instructions of all compiled expressions of a tree: a check takes this times
	// the text's length.
	MaxProgram = 2000
	// MaxText is in bytes of a text to match; a full screen of 1000x1000 does not occur in
	// practice.
	MaxText = 64 << 10
	// MaxStates is how many states of an adapter one matcher names: plugins have a dozen.
	MaxStates = 32
)

const (
	maxPlace = math.MaxUint16 // rows and columns: no screen has more
	maxExit  = 255            // an exit code is a byte
	maxState = 128            // bytes of a state's name, as a plugin may give it
)

// maxStable is the longest stability that can be waited for. A day is longer than any wait.
const maxStable = 24 * time.Hour

// Predicates finds a plugin's Lua predicate. It is declared here so that matchers need not import
// plugins.
type Predicates interface {
	// Predicate returns a matcher that calls function of plugin, or an error that says which of
	// them is unknown. plugin is "" when the tree does not name one.
	Predicate(plugin, function string, params any) (Matcher, error)
}

// States finds what says in which state a session's program is. It is declared here for the same
// reason.
type States interface {
	// State returns a matcher that holds in a session while its adapter says one of the states, or
	// an error that says what is wrong with them.
	State(states []string) (Matcher, error)
}

// A ParseError says what is wrong with a matcher tree and where. Its text quotes at most 32
// characters of the input.
type ParseError struct {
	Path string // such as "matcher.value[1].type"
	Msg  string
}

func (e *ParseError) Error() string { return e.Path + ": " + e.Msg }

// Options bound and extend what [Parse] accepts. The zero value works.
type Options struct {
	Predicates Predicates     // nil: no predicates
	States     States         // nil: no states of adapters
	Depth      int            // levels of nesting; 0: MaxDepth, the maximum
	Scope      Scope          // default of text matchers; "": Seen. Within not it is always OnScreen
	Locators   locate.Options // what locators may be
	// Screen is what a golden screen is compared with: a view's screen with its secrets hidden, as that
	// of the one who wrote the file. nil: as it is.
	Screen func(v *engine.View) *vt.Screen
}

// Parse makes a matcher from a tree of maps, slices, strings, numbers and booleans, as JSON and Lua
// give it: {"type": ..., "value": ...}. Errors are *[ParseError].
func Parse(tree any, o Options) (Matcher, error) {
	if o.Depth <= 0 || o.Depth > MaxDepth {
		o.Depth = MaxDepth
	}
	if o.Scope == "" {
		o.Scope = Seen
	}
	return (&parser{Options: o}).matcher(tree, "matcher", 0)
}

type parser struct {
	Options
	nodes   int
	program int // instructions so far
	screens int // golden screens so far
}

// A kind is a type of matcher.
type kind struct {
	about    string
	parse    func(p *parser, value any, path string, depth int) (Matcher, error)
	shape    func() tree.Shape // of its value; nil: it takes none
	optional bool              // the value may be left out
	scoped   bool              // it takes a scope
}

// kinds are the matcher types.
var kinds map[string]kind

func init() { // a literal would be an initialization cycle through any, all and not
	kinds = map[string]kind{
		"contains_text": {about: "the screen, or a line that scrolled off it, contains a text",
			shape: textShape, scoped: true,
			parse: text(func(p *parser, s string) Matcher { return Text(s).In(p.Scope) })},
		"screen_regex": {about: "an expression is found on the screen, or in lines that scrolled off it", shape: regexShape, scoped: true,
			parse: regex(func(p *parser,
				e *expression) Matcher {
				return screenRegex(e).In(p.Scope)
			})},
		"transcript_contains": {about: "the retained output contains a text", shape: textShape,
			parse: text(func(_ *parser,
				s string) Matcher {
				return &output{query: contained(s),
					kind: "transcript_contains"}
			})},
		"transcript_regex": {about: "an expression is found in the retained output",
			shape: regexShape,
			parse: regex(func(_ *parser, e *expression) Matcher { return outputRegex(e) })},
		"title_contains": {about: "the window title contains a text", shape: textShape,
			parse: text(func(_ *parser,
				s string) Matcher {
				return &title{query: contained(s), kind: "title_contains"}
			})},
		"title_regex": {about: "an expression is found in the window title", shape: regexShape,
			parse: regex(func(_ *parser, e *expression) Matcher { return titleRegex(e) })},
		"cursor_at": {about: "the cursor is there", parse: parseCursorAt, shape: cursorShape},
		"screen_stable": {about: "the screen has not changed for so long", parse: parseStable,
			shape: stableShape},
		"screen": {about: "the screen equals a golden screen", parse: parseScreen, shape: screenShape},
		"process_exited": {about: "the program has ended and its last byte has been read",
			parse: constant(Exited)},
		"located": {about: "a locator means places of the screen", parse: parseLocated,
			shape: locatedShape},
		"bell": {about: "the bell rang since the wait began, or since the request's since", parse: constant(Bell)},
		"command_finished": {about: "a command of a shell that marks them ended since the wait began, or since the request's since",
			parse: parseCommandFinished, shape: finishedShape, optional: true},
		"any": {about: "one of several matchers holds", parse: list(Any), shape: listShape},
		"all": {about: "several matchers hold at once", parse: list(All), shape: listShape},
		"not": {about: "a matcher does not hold", parse: parseNot, shape: matcherShape},
		"lua": {about: "a plugin's predicate says so", parse: parseLua, shape: luaShape},
		"state": {about: "the session's adapter says that its program is in one of these states",
			parse: parseState, shape: statesShape},
	}
}

// matcherRef is where [Schemas] expects the schema of any matcher.
const matcherRef = "#/$defs/Matcher"

func textShape() tree.Shape {
	return tree.TextShape(fmt.Sprintf("text to find, at most %d bytes", MaxText))
}

func regexShape() tree.Shape {
	return tree.TextShape(fmt.Sprintf("RE2 expression to find, at most %d bytes", MaxPattern))
}

func matcherShape() tree.Shape { return tree.Shape{"$ref": matcherRef} }

func listShape() tree.Shape { return tree.Shape{"type": "array", "items": matcherShape()} }

func cursorShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"row": tree.IntShape(0, maxPlace, "from 0"), "col": tree.IntShape(0, maxPlace, "from 0"),
	})
}

func stableShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"min_ms": tree.IntShape(0, int(maxStable.Milliseconds()), "milliseconds without a change"),
	})
}

// finishedShape is closed: an unknown member that was ignored would match any exit code.
func finishedShape() tree.Shape {
	s := tree.ObjectShape(map[string]tree.Shape{"exit_code": tree.IntShape(0, maxExit,
		"only with this exit code")}, "exit_code")
	s["additionalProperties"] = false
	return s
}

func luaShape() tree.Shape {
	return tree.ObjectShape(map[string]tree.Shape{
		"plugin":    tree.TextShape("the plugin's name; a plugin's own matchers may leave it out"),
		"predicate": tree.TextShape("a function of the plugin"),
		"params":    {"description": "what the function gets"},
	}, "params")
}

func statesShape() tree.Shape {
	return tree.Shape{"type": "array", "minItems": 1, "maxItems": MaxStates,
		"items": tree.TextShape("such as idle, working or blocked: see plugin.describe")}
}

func scopeShape() tree.Shape {
	return tree.EnumShape([]Scope{Seen, OnScreen},
		"seen (default) also reads lines that scroll off the screen")
}

// Schemas returns the JSON Schema (2020-12) of each matcher type, as a tree. The matchers inside
// any, all and not are references to #/$defs/Matcher.
func Schemas() map[string]map[string]any {
	all := map[string]map[string]any{}
	for name, k := range kinds {
		s := tree.TypedShape(name, k.about, k.shape, k.optional)
		if k.scoped {
			s["properties"].(tree.Shape)["scope"] = scopeShape()
		}
		all[name] = s
	}
	return all
}

func (p *parser) matcher(tree any, path string, depth int) (Matcher, error) {
	if depth >= p.Depth {
		return nil, &ParseError{path, fmt.Sprintf("nested more than %d levels deep", p.Depth)}
	}
	if p.nodes++; p.nodes > MaxNodes {
		return nil, &ParseError{path, fmt.Sprintf("more than %d matchers in one tree", MaxNodes)}
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, &ParseError{path, "expected an object with type and value, got " + kindOf(tree)}
	}
	name, ok := object["type"].(string)
	if !ok {
		return nil, &ParseError{path + ".type", "expected a string, got " + kindOf(object["type"])}
	}
	kind, ok := kinds[name]
	if !ok || name == "state" && p.States == nil {
		return nil, &ParseError{path + ".type",
			fmt.Sprintf("unknown matcher %s: known are %s", engine.Quote(name),
				strings.Join(Types(p.Options), ", "))}
	}
	around := p.Scope
	if scope, given := object["scope"]; given {
		if !kind.scoped {
			return nil,
				&ParseError{path + ".scope", "only contains_text and screen_regex have a scope"}
		}
		switch scope {
		case string(Seen), string(OnScreen):
			p.Scope = Scope(scope.(string))
		default:
			return nil, &ParseError{path + ".scope", `expected "seen" or "screen"`}
		}
	}
	m, err := kind.parse(p, object["value"], path+".value", depth)
	p.Scope = around
	return m, err
}

func text(make func(*parser, string) Matcher) func(*parser, any, string, int) (Matcher, error) {
	return func(p *parser, value any, path string, _ int) (Matcher, error) {
		s, ok := value.(string)
		switch {
		case !ok:
			return nil, &ParseError{path, "expected a string, got " + kindOf(value)}
		case len(s) > MaxText:
			return nil,
				&ParseError{path,
					fmt.Sprintf("text of %d bytes, at most %d are allowed", len(s), MaxText)}
		}
		return make(p, s), nil
	}
}

func regex(make func(*parser,
	*expression) Matcher) func(*parser, any, string, int) (Matcher, error) {
	return func(p *parser, value any, path string, _ int) (Matcher, error) {
		s, ok := value.(string)
		if !ok {
			return nil, &ParseError{path, "expected a string, got " + kindOf(value)}
		}
		re, err := p.compile(s)
		if err != nil {
			return nil, &ParseError{path, err.Error()}
		}
		return make(p, re), nil
	}
}

// compile compiles an expression of the tree, and counts its steps.
func (p *parser) compile(pattern string) (*expression, error) {
	e, err := compile(pattern)
	if err != nil {
		return nil, err
	}
	if p.program += e.steps; p.program > MaxProgram {
		return nil, fmt.Errorf("expressions of %d steps in one tree, at most %d are allowed; "+
			"repeat less", p.program, MaxProgram)
	}
	return e, nil
}

// Compile compiles an expression from outside within the bounds of matchers.
func Compile(pattern string) (*regexp.Regexp, error) {
	e, err := compile(pattern)
	if err != nil {
		return nil, err
	}
	return e.re, nil
}

// compile compiles an expression from outside.
func compile(pattern string) (*expression, error) {
	if len(pattern) > MaxPattern {
		return nil, fmt.Errorf("pattern of %d bytes, at most %d are allowed", len(pattern),
			MaxPattern)
	}
	tree, steps, err := analyze(pattern)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression: %s", regexReason(err))
	}
	if steps > MaxProgram {
		return nil, fmt.Errorf("an expression of %d steps, at most %d are allowed; repeat less",
			steps, MaxProgram)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression: %s", regexReason(err))
	}
	return analyzed(re, tree, steps), nil
}

// regexReason says what is wrong with a pattern, quoting no more of it than is needed to find the
// place.
func regexReason(err error) string {
	if e, ok := err.(*syntax.Error); ok {
		return fmt.Sprintf("%s: %s", e.Code, engine.Quote(e.Expr))
	}
	return "not RE2 syntax"
}

func constant(make func() Matcher) func(*parser, any, string, int) (Matcher, error) {
	return func(*parser, any, string, int) (Matcher, error) { return make(), nil }
}

func list(make func(...Matcher) Matcher) func(*parser, any, string, int) (Matcher, error) {
	return func(p *parser, value any, path string, depth int) (Matcher, error) {
		items, ok := value.([]any)
		if !ok {
			return nil, &ParseError{path, "expected an array of matchers, got " + kindOf(value)}
		}
		var parts []Matcher
		for i, item := range items {
			m, err := p.matcher(item, fmt.Sprintf("%s[%d]", path, i), depth+1)
			if err != nil {
				return nil, err
			}
			parts = append(parts, m)
		}
		return make(parts...), nil
	}
}

func parseNot(p *parser, value any, path string, depth int) (Matcher, error) {
	m, err := p.matcher(value, path, depth+1)
	if err != nil {
		return nil, err
	}
	return Not(m), nil
}

func parseCursorAt(_ *parser, value any, path string, _ int) (Matcher, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, &ParseError{path, "expected an object with row and col, got " + kindOf(value)}
	}
	row, err := integer(object["row"], path+".row", maxPlace)
	if err != nil {
		return nil, err
	}
	col, err := integer(object["col"], path+".col", maxPlace)
	if err != nil {
		return nil, err
	}
	return Cursor(int(row), int(col)), nil
}

// parseCommandFinished reads nothing, or {exit_code}.
func parseCommandFinished(_ *parser, value any, path string, _ int) (Matcher, error) {
	if value == nil {
		return Command(), nil
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, &ParseError{path,
			"expected an object with exit_code, or nothing, got " + kindOf(value)}
	}
	for name := range object {
		if name != "exit_code" { // ignoring it would match any exit code
			return nil,
				&ParseError{path,
					fmt.Sprintf("expected exit_code and nothing else, got %s", engine.Quote(name))}
		}
	}
	if object["exit_code"] == nil {
		return Command(), nil
	}
	code, err := integer(object["exit_code"], path+".exit_code", maxExit)
	if err != nil {
		return nil, err
	}
	return CommandExit(int(code)), nil
}

func parseStable(_ *parser, value any, path string, _ int) (Matcher, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, &ParseError{path, "expected an object with min_ms, got " + kindOf(value)}
	}
	ms, err := integer(object["min_ms"], path+".min_ms", int64(maxStable/time.Millisecond))
	if err != nil {
		return nil, err
	}
	return Stable(time.Duration(ms) * time.Millisecond), nil
}

func parseLua(p *parser, value any, path string, _ int) (Matcher, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, &ParseError{path,
			"expected an object with plugin and predicate, got " + kindOf(value)}
	}
	var names [2]string
	for i, key := range [...]string{"plugin", "predicate"} {
		// A plugin's own: the finder of predicates knows which.
		if object[key] == nil && key == "plugin" {
			continue
		}
		if names[i], ok = object[key].(string); !ok {
			return nil,
				&ParseError{path + "." + key, "expected a string, got " + kindOf(object[key])}
		}
	}
	if p.Predicates == nil {
		return nil, &ParseError{path + ".plugin",
			fmt.Sprintf("unknown plugin %s", engine.Quote(names[0]))}
	}
	m, err := p.Predicates.Predicate(names[0], names[1], object["params"])
	if err != nil {
		return nil, &ParseError{path, err.Error()}
	}
	return m, nil
}

// parseState reads a list of states.
func parseState(p *parser, value any, path string, _ int) (Matcher, error) {
	items, ok := value.([]any)
	if !ok || len(items) == 0 || len(items) > MaxStates {
		got := kindOf(value)
		if ok {
			got = fmt.Sprintf("%d", len(items))
		}
		return nil, &ParseError{path, fmt.Sprintf("expected a list of 1 to %d states, got %s",
			MaxStates, got)}
	}
	states := make([]string, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok || s == "" || len(s) > maxState {
			return nil, &ParseError{fmt.Sprintf("%s[%d]", path, i),
				fmt.Sprintf("expected a state of 1 to %d bytes, got %s", maxState, kindOf(item))}
		}
		states[i] = s
	}
	m, err := p.States.State(states)
	if err != nil {
		return nil, &ParseError{path, err.Error()}
	}
	return m, nil
}

// integer reads a whole number from 0 to most.
func integer(value any, path string, most int64) (int64, error) {
	n, ok := tree.Int(value, 0, int(most))
	if !ok {
		return 0, &ParseError{path,
			fmt.Sprintf("expected a whole number from 0 to %d, got %s", most, tree.Got(value))}
	}
	return int64(n), nil
}

// kindOf names a value's type in JSON's terms.
var kindOf = tree.Kind

// Types returns the names of the matcher types that Parse accepts with o, sorted.
func Types(o Options) []string {
	names := slices.Sorted(maps.Keys(kinds))
	return slices.DeleteFunc(names, func(s string) bool {
		return s == "lua" && o.Predicates == nil || s == "state" && o.States == nil
	})
}
