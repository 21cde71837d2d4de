package repl

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/repl/edit"
	"github.com/ptywright/ptywright/engine/vt"
)

// complete offers candidates for the cursor. It asks the server where necessary, for at most
// completeBound, and offers nothing on timeout.
func (c *console) complete(text string, cursor int) (start int, items []edit.Candidate) {
	ctx, cancel := context.WithTimeout(c.ctx, completeBound)
	defer cancel()
	c.m.SetContext(ctx)
	defer c.m.RemoveContext()
	before := text[:cursor]
	if trimmed := strings.TrimLeft(before, " \t"); strings.HasPrefix(trimmed, ":") {
		start, items = c.completeMeta(before, len(before)-len(trimmed))
	} else {
		start, items = c.m.completeLua(before)
	}
	for i := range items { // ids, titles and names come from elsewhere
		items[i].Text, items[i].About = cli.OneLine(items[i].Text), cli.OneLine(items[i].About)
	}
	return start, items
}

// completeMeta completes a command that begins at from, or its arguments.
func (c *console) completeMeta(before string, from int) (int, []edit.Candidate) {
	words := strings.Fields(before[from:])
	last := ""
	if !strings.HasSuffix(before, " ") {
		last, words = words[len(words)-1], words[:len(words)-1]
	}
	at := len(before) - len(last)
	if len(words) == 0 {
		var all []edit.Candidate
		for _, cmd := range commands() {
			all = append(all,
				edit.Candidate{Text: ":" + cmd.name,
					Suffix: map[bool]string{true: " "}[cmd.args != ""], About: cmd.about})
		}
		return at, starting(all, last)
	}
	var all []edit.Candidate
	switch name := words[0]; {
	case len(words) == 1 &&
		(name == ":attach" || name == ":shot" || name == ":record"), len(words) == 2 &&
		name == ":notifications":
		all = c.m.ids("session")
	case len(words) == 1 && name == ":use":
		all = append(c.m.ids("session"), c.m.ids("adapter")...)
	case len(words) == 1 && name == ":rpc":
		all = c.m.methodNames(" ")
	case len(words) == 1 && name == ":notifications":
		all = plainItems([]string{"on", "off"}, "")
	}
	return at, starting(all, last)
}

// starting returns the candidates that begin with typed.
func starting(all []edit.Candidate, typed string) []edit.Candidate {
	return slices.DeleteFunc(all,
		func(c edit.Candidate) bool { return !strings.HasPrefix(c.Text, typed) })
}

func plainItems(names []string, suffix string) []edit.Candidate {
	all := make([]edit.Candidate, len(names))
	for i, n := range names {
		all[i] = edit.Candidate{Text: n, Suffix: suffix}
	}
	return all
}

// ids returns the server's sessions or adapters.
func (m *machine) ids(kind string) (all []edit.Candidate) {
	for _, h := range m.tryAll(kind) {
		all = append(all,
			edit.Candidate{Text: h.id, About: strings.TrimSpace(h.name + " " + h.about)})
		if h.name != "" {
			all = append(all, edit.Candidate{Text: h.name, About: h.id + " " + h.about})
		}
	}
	return all
}

// tryAll is all without errors, for callers that cannot report them.
func (m *machine) tryAll(kind string) (hs []*handle) {
	defer func() { _ = recover() }() // errors raised by m.rpc
	return m.all(kind)
}

func (m *machine) methodNames(suffix string) []edit.Candidate {
	all := plainItems(m.methods, suffix)
	for i := range all {
		all[i].About = m.schemas()[all[i].Text].About
	}
	return all
}

// A schema is the server's description of a method.
type schema struct {
	About  string `json:"about"`
	Params struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	} `json:"params"`
}

// schemas requests the params and results of all methods, once.
func (m *machine) schemas() map[string]schema {
	if m.shapes == nil {
		var caps struct {
			Schema struct {
				Methods map[string]struct {
					About  string `json:"about"`
					Params struct {
						Ref string `json:"$ref"`
					} `json:"params"`
				} `json:"methods"`
				Defs map[string]json.RawMessage `json:"$defs"`
			} `json:"schema"`
		}
		if m.call(m.context(), "server.capabilities", map[string]bool{"schema": true},
			&caps) != nil {
			return nil
		}
		m.shapes = map[string]schema{}
		for name, method := range caps.Schema.Methods {
			s := schema{About: method.About}
			if json.Unmarshal(caps.Schema.Defs[strings.TrimPrefix(method.Params.Ref, "#/$defs/")],
				&s.Params) == nil {
				m.shapes[name] = s
			}
		}
	}
	return m.shapes
}

func (m *machine) params0(method string) (all []edit.Candidate) {
	properties := m.schemas()[method].Params.Properties
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		all = append(all,
			edit.Candidate{Text: name, Suffix: " = ", About: properties[name].Description})
	}
	return all
}

// completeLua completes the Lua text before the cursor.
func (m *machine) completeLua(before string) (int, []edit.Candidate) {
	tokens := scan(before)
	typed, at := "", len(before)
	if n := len(tokens); n > 0 && tokens[n-1].end == len(before) {
		switch last := tokens[n-1]; {
		case last.kind == '-' || last.kind == '0':
			return 0, nil
		case last.kind == '"' && open(before[last.start:]):
			at = last.start + 1
			return at,
				starting(m.inString(before, tokens[:n-1], before[last.start:last.start+1]),
					before[at:])
		case last.kind == 'n':
			typed, at = before[last.start:], last.start
			tokens = tokens[:n-1]
		}
	}
	n := len(tokens)
	if n > 0 && (tokens[n-1].kind == '.' || tokens[n-1].kind == ':') && n > 1 {
		if path := pathBefore(before, tokens[:n-1]); path != "" {
			return at, starting(m.fields(path, tokens[n-1].kind), typed)
		}
		return at, nil
	}
	if o := opening(tokens); o >= 0 && tokens[o].kind == '{' &&
		(tokens[n-1].kind == '{' || tokens[n-1].kind == ',' || tokens[n-1].kind == ';') {
		if names := starting(m.keysOf(before, tokens, o), typed); len(names) > 0 {
			return at, names
		}
	}
	if typed == "" && n > 0 {
		return at, nil // a list of everything is of no use
	}
	return at, starting(m.globals(), typed)
}

// open reports whether a string is not closed yet.
func open(s string) bool {
	if s[0] == '[' {
		return false
	}
	all := scan(s)
	last := s[len(s)-1]
	return len(all) == 1 && (len(s) == 1 || last != s[0] || len(s) > 1 && s[len(s)-2] == '\\')
}

// opening is the position of the bracket that is open at the end, or -1.
func opening(tokens []token) int {
	depth := 0
	for i, t := range slices.Backward(tokens) {
		switch t.kind {
		case ')', '}', ']':
			depth++
		case '(', '{', '[':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return -1
}

// pathBefore is the dotted name at the end of tokens, such as "session.get" or "s:keys", or "".
func pathBefore(text string, tokens []token) string {
	i := len(tokens) - 1
	if i < 0 || tokens[i].kind != 'n' {
		return ""
	}
	for i >= 2 && (tokens[i-1].kind == '.' || tokens[i-1].kind == ':') && tokens[i-2].kind == 'n' {
		i -= 2
	}
	if i > 0 && (tokens[i-1].kind == '.' || tokens[i-1].kind == ':') {
		return "" // of a call's result; completion does not call it
	}
	return strings.ReplaceAll(text[tokens[i].start:tokens[len(tokens)-1].end], " ", "")
}

// A place is the position of a value: an argument of a call, or a member of a table that is one.
type place struct {
	call  string // the function's name
	arg   int    // the argument's number, from 0
	field string // of a table: the name before =
	first string // the call's first argument, if it is a string
}

// placeOf finds the place of the value that follows tokens.
func placeOf(text string, tokens []token) (p place) {
	n := len(tokens)
	if n > 1 && tokens[n-1].kind == '=' && tokens[n-2].kind == 'n' {
		p.field = text[tokens[n-2].start:tokens[n-2].end]
	}
	for o := opening(tokens); o >= 0; o = opening(tokens[:o]) {
		if call := pathBefore(text, tokens[:o]); call != "" && !keywords[call] {
			p.call = call
			if tokens[o].kind == '(' {
				p.arg = commas(tokens[o+1:])
				if o+1 < n && tokens[o+1].kind == '"' {
					p.first = strings.Trim(text[tokens[o+1].start:tokens[o+1].end], `"'`)
				}
			}
			return p
		}
	}
	if call := pathBefore(text, tokens); call != "" && p.field == "" { // f"..."
		p.call = call
	}
	return p
}

// commas counts the commas of the outermost level.
func commas(tokens []token) (n int) {
	depth := 0
	for _, t := range tokens {
		switch t.kind {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
		case ',':
			if depth == 0 {
				n++
			}
		}
	}
	return n
}

// inString offers the values for a string at this place. q is how it began.
func (m *machine) inString(text string, tokens []token, q string) []edit.Candidate {
	p := placeOf(text, tokens)
	switch p.field {
	case "session", "adapter":
		return closed(m.ids(p.field), q)
	case "plugin":
		return closed(m.plugins(), q)
	case "type":
		return closed(plainItems(wireMatchers, ""), q)
	case "intent":
		return closed(m.intentItems(m.current), q)
	}
	if p.field != "" {
		return nil
	}
	name := p.call[strings.LastIndexAny(p.call, ".:")+1:]
	h := m.current
	arg := p.arg
	if receiver, _, ok := strings.Cut(p.call, ":"); ok {
		if u, ok := m.lookup(receiver).(*lua.LUserData); ok {
			h, _ = u.Value.(*handle)
		}
	} else if first := text[firstArg(tokens):]; name == "turn" || name == "send" || name == "wait" {
		if u, ok := m.lookup(strings.TrimSpace(before(first, ","))).(*lua.LUserData); ok && arg > 0 { // turn(a, "intent")
			h, _ = u.Value.(*handle)
			arg--
		}
	}
	switch {
	case name == "rpc" && arg == 0:
		return closed(m.methodNames(""), q)
	case (p.call == "session.get" || p.call == "adapter.get") && arg == 0:
		return closed(m.ids(p.call[:7]), q)
	case p.call == "use":
		return closed(append(m.ids("session"), m.ids("adapter")...), q)
	case p.call == "adapter.start" && arg == 0:
		return closed(m.plugins(), q)
	case name == "key" || name == "keys":
		return closed(plainItems(keyNames(), ""), q)
	case h != nil && h.kind == "adapter" && (name == "send" || name == "turn" || name == "wait") &&
		arg == 0:
		return closed(m.intentItems(h), q)
	}
	return nil
}

// firstArg is where the arguments of the call at the end of tokens begin.
func firstArg(tokens []token) int {
	if o := opening(tokens); o >= 0 {
		return tokens[o].end
	}
	return 0
}

func before(s, sep string) string {
	s, _, _ = strings.Cut(s, sep)
	return s
}

// closed makes each candidate end the string.
func closed(all []edit.Candidate, q string) []edit.Candidate {
	for i := range all {
		all[i].Suffix = q
	}
	return all
}

func (m *machine) plugins() (all []edit.Candidate) {
	var r struct {
		Plugins []struct{ Name, Version string }
	}
	if m.call(m.context(), "adapter.list", nil, &r) == nil {
		for _, p := range r.Plugins {
			all = append(all, edit.Candidate{Text: p.Name, About: p.Version})
		}
	}
	return all
}

func (m *machine) intentItems(h *handle) (all []edit.Candidate) {
	if h == nil || h.kind != "adapter" {
		return nil
	}
	for _, i := range m.intentsOf(h.plugin) {
		all = append(all, edit.Candidate{Text: i.Name, About: i.Description})
	}
	return all
}

// keysOf offers the member names for the table that opens at o.
func (m *machine) keysOf(text string, tokens []token, o int) []edit.Candidate {
	p := placeOf(text, tokens[:o+1])
	name := p.call[strings.LastIndexAny(p.call, ".:")+1:]
	waits := name == "wait" || name == "turn"
	if u, ok := m.lookup(before(p.call, ":")).(*lua.LUserData); ok {
		if h, ok := u.Value.(*handle); ok {
			if h.kind == "adapter" && waits {
				return plainItems([]string{"intent", "params", "since", "timeout",
					"wait_id"}, " = ")
			}
			if !waits {
				return m.params0(h.kind + "." + name)
			}
		}
	}
	switch {
	case waits:
		return plainItems(append(slices.Sorted(maps.Keys(matcherNames)), "any", "all", "bell", `["not"]`, "lua", "scope", "timeout", "since"), " = ") // not is a word of Lua
	case name == "rpc":
		return m.params0(p.first)
	case p.call == "session.spawn":
		return m.params0("session.create")
	}
	return m.params0(p.call)
}

// keyNames are the names of keys as the documentation writes them: ctrl+c, with ctrl_c as an alias.
func keyNames() []string {
	names := vt.KeyNames()
	for i, name := range names {
		if k, err := vt.ParseKey(name); err == nil && strings.HasPrefix(name, "ctrl_") {
			names[i] = k.String()
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// lookup is the value of a dotted name, without calling anything.
func (m *machine) lookup(path string) lua.LValue {
	var v lua.LValue = m.G.Global
	for _, name := range strings.FieldsFunc(path,
		func(r rune) bool { return r == '.' || r == ':' }) {
		t, ok := v.(*lua.LTable)
		if !ok {
			return lua.LNil
		}
		v = t.RawGetString(name)
	}
	return v
}

// fields offers the members of the value that a path names. sep is what follows it: a colon wants
// methods.
func (m *machine) fields(path string, sep byte) (all []edit.Candidate) {
	switch v := m.lookup(path).(type) {
	case *lua.LTable:
		names := map[string]string{}
		v.ForEach(func(k, item lua.LValue) {
			if s, ok := k.(lua.LString); ok && isName(string(s)) {
				names[string(s)] = suffixOf(item)
			}
		})
		about := map[string]string{}
		for _, method := range m.methods {
			if name, ok := strings.CutPrefix(method, path+"."); ok {
				names[name], about[name] = "(", m.schemas()[method].About
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			all = append(all, edit.Candidate{Text: name, Suffix: names[name], About: about[name]})
		}
	case *lua.LUserData:
		switch o := v.Value.(type) {
		case *handle:
			for _, name := range m.members(o) {
				all = append(all,
					edit.Candidate{Text: name, Suffix: map[bool]string{true: "("}[sep == ':'],
						About: m.schemas()[o.kind+"."+name].About})
			}
		case *screen:
			return plainItems([]string{"cols", "cursor", "exit", "lines", "rows", "sequence",
				"size", "text", "title"}, "")
		case *answer:
			return plainItems([]string{"capture", "elapsed_ms", "from", "kind", "ms", "outcome", "screen",
				"sequence", "state", "to"}, "")
		case *failure:
			return plainItems([]string{"code", "data", "message", "reason", "screen"}, "")
		}
	case lua.LString:
		return m.fields("string", ':')
	}
	return all
}

func suffixOf(v lua.LValue) string {
	if v.Type() == lua.LTFunction {
		return "("
	}
	return ""
}

// globals offers the global names, first ours and the user's, then the library's, and the keywords.
func (m *machine) globals() (all []edit.Candidate) {
	m.G.Global.ForEach(func(k, v lua.LValue) {
		name, ok := k.(lua.LString)
		if !ok || strings.HasPrefix(string(name), "_") {
			return
		}
		about := ""
		if u, ok := v.(*lua.LUserData); ok {
			about = title(u)
		}
		all = append(all, edit.Candidate{Text: string(name), Suffix: suffixOf(v), About: about})
	})
	all = append(all, plainItems(slices.Collect(maps.Keys(keywords)), " ")...)
	slices.SortFunc(all, func(a, b edit.Candidate) int { return strings.Compare(a.Text, b.Text) })
	return all
}
