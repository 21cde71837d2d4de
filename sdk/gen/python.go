package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pythonNames are the types whose names in Python are not the model's: the SDK has objects of its
// own for what people call a session, an adapter or a matcher.
var pythonNames = map[string]string{
	"Session": "SessionInfo", "Adapter": "AdapterInfo", "Recording": "RecordingInfo",
	"Matcher": "MatcherValue", "Action": "ActionValue", "AdapterStarted": "StartedAdapter",
	"SessionRunResult": "Ran",
}

// pythonData names the data of errors by a reason that has it. Reasons whose data has the same
// members share a class.
var pythonData = map[string]string{"timeout": "WaitData", "invalid_params": "InputData",
	"invalid_request": "ErrorData"}

// builtinErrors are the reasons whose class is an error of Python's, too.
var builtinErrors = map[string]string{"timeout": "builtins.TimeoutError"}

// A pythonWriter writes _generated.py.
type pythonWriter struct {
	strings.Builder
	names map[*typeDef]string
}

// pythonOf writes the types and calls of the wire, and its errors, as Python 3.9.
func pythonOf(w *wire) (generated, failures []byte) {
	p := &pythonWriter{names: map[*typeDef]string{}}
	p.name(w)
	p.head(w)
	var unions, aliases []*typeDef
	written := map[string]bool{}
	for _, t := range w.types {
		again := written[p.names[t]]
		written[p.names[t]] = true
		switch {
		case again && t.err:
			continue // the data of another reason, which has the same members
		case again:
			panic(unknownShape(t.name + ", whose name in Python is taken,"))
		case t.alias != nil:
			aliases = append(aliases, t)
		case t.union != nil:
			unions = append(unions, t)
		case t.sent && isParams(w, t):
			continue // members of the call
		case t.sent:
			p.typedDict(t)
		default:
			p.record(w, t)
		}
	}
	for _, t := range unions {
		p.union(t)
	}
	for _, t := range aliases { // which may name a union
		p.printf("\n%s = %s\n", p.names[t], p.sent(*t.alias))
		p.doc("", t.doc)
	}
	p.notifications(w)
	for _, m := range w.methods {
		p.call(m)
	}
	p.all()
	f := &pythonWriter{names: p.names}
	f.failures(w)
	f.all()
	return []byte(p.String()), []byte(f.String())
}

func (p *pythonWriter) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// name gives every type its name in Python.
func (p *pythonWriter) name(w *wire) {
	for _, t := range w.types {
		p.names[t] = t.name
		if other := pythonNames[t.name]; other != "" {
			p.names[t] = other
		}
		if t.err {
			p.names[t] = dataName(w, t)
		}
	}
	taken := map[string]bool{}
	for _, name := range p.names {
		taken[name] = true
	}
	for _, n := range w.notifications {
		name := strings.TrimSuffix(n.params.name, "Params")
		if taken[name] { // by what it tells of
			name += "Notification"
		}
		p.names[n.params] = name
	}
}

// dataName is the class of an error's data: that of the first reason whose data has the same
// members, or the name that pythonData has for it.
func dataName(w *wire, t *typeDef) string {
	name := ""
	for _, r := range w.reasons {
		if !slices.EqualFunc(r.data.fields, t.fields,
			func(a, b field) bool { return a.name == b.name && a.required == b.required }) {
			continue
		}
		if known := pythonData[r.reason]; known != "" {
			return known
		}
		if name == "" {
			name = r.data.name
		}
	}
	return name
}

// errorName is the class of a reason.
func errorName(reason string) string { return strings.TrimSuffix(title(reason), "Error") + "Error" }

func isParams(w *wire, t *typeDef) bool {
	return slices.ContainsFunc(w.methods, func(m *methodDef) bool { return m.params == t })
}

func (p *pythonWriter) head(w *wire) {
	p.printf(`"""The wire of ptywright, protocol %d: what it sends, what it takes, what it refuses.

Written by go run ./sdk/gen from protocol/model.json. Do not edit.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

from ._record import Call, Made, Optionally, Plain, Record, given, maybe, one_of

PROTOCOL = %[1]d
"""The version of the wire that this SDK speaks."""
`, w.protocol)
}

// doc writes a docstring of paragraphs, nothing when there are none.
func (p *pythonWriter) doc(indent string, paragraphs ...string) {
	text := strings.TrimSpace(strings.Join(slices.DeleteFunc(paragraphs,
		func(s string) bool { return s == "" }), "\n\n"))
	if text == "" {
		return
	}
	text = strings.ReplaceAll(text, `\`, `\\`)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrap(line, 98-len(indent))...)
	}
	if len(lines) == 1 && len(indent)+len(lines[0]) <= 94 {
		p.printf("%s\"\"\"%s\"\"\"\n", indent, lines[0])
		return
	}
	p.printf("%s\"\"\"%s\n", indent, lines[0])
	for _, line := range lines[1:] {
		p.printf("%s\n", strings.TrimRight(indent+line, " "))
	}
	p.printf("%s\"\"\"\n", indent)
}

// wrap breaks a line at blanks; what follows is indented as the line is, and list entries by four
// more.
func wrap(line string, width int) (lines []string) {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	more := indent
	if indent != "" {
		more += "    "
	}
	at := indent
	for word := range strings.FieldsSeq(line) {
		if len(strings.TrimSpace(at)) > 0 && len(at)+1+len(word) > width-3 {
			lines, at = append(lines, at), more+word
			continue
		}
		if len(strings.TrimSpace(at)) > 0 {
			at += " "
		}
		at += word
	}
	return append(lines, at)
}

// sentence makes a sentence of a description.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// sent is the annotation of what is sent.
func (p *pythonWriter) sent(r ref) string { return p.annotation(r, "Sequence", "Mapping") }

// received is the annotation of what the server sends.
func (p *pythonWriter) received(r ref) string { return p.annotation(r, "List", "Dict") }

func (p *pythonWriter) annotation(r ref, listed, mapped string) (s string) {
	switch r.form {
	case anything:
		return "Any"
	case text:
		s = "str"
	case integer:
		s = "int"
	case number:
		s = "float"
	case boolean:
		s = "bool"
	case constant, words:
		var all []string
		for _, word := range r.words {
			all = append(all, strconv.Quote(word))
		}
		s = "Literal[" + strings.Join(all, ", ") + "]"
	case list:
		s = listed + "[" + p.annotation(*r.elem, listed, mapped) + "]"
	case mapping:
		s = mapped + "[str, " + p.annotation(*r.elem, listed, mapped) + "]"
	case named:
		s = p.names[r.def]
	case either:
		var all []string
		for _, b := range r.branches {
			all = append(all, p.annotation(b, listed, mapped))
		}
		s = "Union[" + strings.Join(all, ", ") + "]"
	}
	if r.null {
		return "Optional[" + s + "]"
	}
	return s
}

// typedDict writes an object that is sent; members that may be left out stand in a class of their
// own, which is how Python 3.9 says so.
func (p *pythonWriter) typedDict(t *typeDef) {
	base, optional := "TypedDict",
		slices.ContainsFunc(t.fields, func(f field) bool { return !f.required })
	required := slices.ContainsFunc(t.fields, func(f field) bool { return f.required })
	write := func(which bool) {
		for _, f := range t.fields {
			if f.required == which {
				p.printf("    %s: %s\n", f.name, p.sent(f.ref))
				p.doc("    ", sentence(f.doc))
			}
		}
	}
	if required && optional {
		base = "_" + p.names[t]
		if !p.spelled(t, base) {
			p.printf("\n\nclass %s(TypedDict):\n", base)
			write(true)
		}
	}
	if optional {
		p.printf("\n\nclass %s(%s, total=False):\n", p.names[t], base)
	} else {
		p.printf("\n\nclass %s(%s):\n", p.names[t], base)
	}
	p.doc("    ", sentence(t.doc))
	write(!optional)
	if t.doc == "" && len(t.fields) == 0 {
		p.printf("    pass\n")
	}
}

// spelled writes the required members of an object whose names a class cannot have; false when it can.
func (p *pythonWriter) spelled(t *typeDef, name string) bool {
	if !slices.ContainsFunc(t.fields, func(f field) bool { return pythonName(f.name) != f.name }) {
		return false
	}
	p.printf("\n\n%s = TypedDict(%q, {\n", name, name)
	for _, f := range t.fields {
		if f.required {
			p.printf("    %q: %q,\n", f.name, p.sent(f.ref))
		}
	}
	p.printf("})\n")
	return true
}

// record writes an object that the server sends.
func (p *pythonWriter) record(w *wire, t *typeDef) {
	p.printf("\n\nclass %s(Record):\n", p.names[t])
	about := sentence(t.doc)
	if i := slices.IndexFunc(w.notifications,
		func(n *notificationDef) bool { return n.params == t }); i >= 0 {
		about = w.notifications[i].about
	}
	if t.err {
		about = "What an error has to show for it."
	}
	p.doc("    ", about)
	if i := slices.IndexFunc(w.notifications,
		func(n *notificationDef) bool { return n.params == t }); i >= 0 {
		name := w.notifications[i].name
		p.printf("    method: Literal[%q] = %[1]q\n", name)
	}
	n := 0
	for _, f := range t.fields {
		if t.err && f.name == "reason" {
			continue
		}
		n++
		if f.form == constant {
			p.printf("    %s: %s = %q\n", f.name, p.received(f.ref), f.words[0])
			continue
		}
		p.member(f)
		p.doc("    ", sentence(f.doc))
	}
	if n == 0 && about == "" {
		p.printf("    pass\n")
	}
}

// member writes a member of a record. What may be left out is None then, or false, or empty.
func (p *pythonWriter) member(f field) {
	of := p.received(f.ref)
	name, attribute := f.name, pythonName(f.name)
	if make := p.maker(f.ref, "v"); make != "v" {
		switch {
		case f.form == list:
			p.printf("    %s = Made[%q](%q, lambda v: %s)\n", attribute, of, name,
				strings.Replace(make, " in v]", " in v or ()]", 1))
		case f.required && !f.null:
			p.printf("    %s = Made[%q](%q, lambda v: %s)\n", attribute, of, name, make)
		default:
			bare := f.ref
			bare.null = false
			p.printf("    %s = Made[%q](%q, lambda v: maybe(%s, v))\n", attribute,
				"Optional["+p.received(bare)+"]", name, p.function(bare))
		}
		return
	}
	switch {
	case f.required:
		p.printf("    %s = Plain[%s](%q)\n", attribute, of, name)
	case f.form == boolean && !f.null:
		p.printf("    %s = Optionally[bool](%q, False)\n", attribute, name)
	case f.form == list && !f.null:
		p.printf("    %s = Made[%s](%q, lambda v: list(v or ()))\n", attribute, of, name)
	case f.form == mapping && !f.null:
		p.printf("    %s = Made[%s](%q, lambda v: dict(v or {}))\n", attribute, of, name)
	case f.null || of == "Any":
		p.printf("    %s = Optionally[%s](%q, None)\n", attribute, of, name)
	default:
		p.printf("    %s = Optionally[Optional[%s]](%q, None)\n", attribute, of, name)
	}
}

// pythonName is how Python spells a member: from is a keyword, and becomes from_.
func pythonName(name string) string {
	if slices.Contains(pythonKeywords, name) {
		return name + "_"
	}
	return name
}

// pythonKeywords are those of the language's reference, section 2.3.1, that a member could be.
var pythonKeywords = []string{"and", "as", "assert", "async", "await", "break", "class", "continue",
	"def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
	"in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
	"with", "yield"}

// maker is the expression that makes of v what a ref says; v itself when that is what it is.
func (p *pythonWriter) maker(r ref, v string) string {
	switch r.form {
	case named:
		if r.def.alias != nil {
			return v
		}
		return p.function(r) + "(" + v + ")"
	case list:
		if inner := p.maker(*r.elem, "x"); inner != "x" {
			return "[" + inner + " for x in " + v + "]"
		}
	}
	return v
}

// function is what makes a record of an object.
func (p *pythonWriter) function(r ref) string {
	if r.def.union != nil {
		return "_" + snake(p.names[r.def])
	}
	return p.names[r.def]
}

// snake turns a type's name into one of a function.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' && i > 0 {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

// union writes a choice of objects, and for what the server sends what tells them apart.
func (p *pythonWriter) union(t *typeDef) {
	var all []string
	for _, b := range t.union.branches {
		all = append(all, p.names[b])
	}
	p.printf("\n\n%s = Union[\n    %s,\n]\n", p.names[t], strings.Join(all, ",\n    "))
	p.doc("", sentence(t.doc))
	if !t.received {
		return
	}
	table := strings.ToUpper("_" + snake(p.names[t]))
	p.printf("\n%s: Mapping[str, Callable[[Any], %s]] = {\n", table, p.names[t])
	for _, b := range t.union.branches {
		p.printf("    %q: %s,\n", b.tag().words[0], p.names[b])
	}
	p.printf("}\n\n\ndef _%s(v: Any) -> %s:\n    return one_of(%s, %q, v)\n", snake(p.names[t]),
		p.names[t], table, t.union.tag)
}

func (p *pythonWriter) notifications(w *wire) {
	var all []string
	for _, n := range w.notifications {
		all = append(all, p.names[n.params])
	}
	p.printf("\n\nNotification = Union[%s]\n\"\"\"What the server tells of its own accord.\"\"\"\n",
		strings.Join(all, ", "))
	p.printf("\nNOTIFICATIONS: Mapping[str, Callable[[Any], Notification]] = {\n")
	for _, n := range w.notifications {
		p.printf("    %q: %s,\n", n.name, p.names[n.params])
	}
	p.printf("}\n\"\"\"What makes one of its params, by its method.\"\"\"\n")
}

// all lists what the module is for: what begins with a letter.
func (p *pythonWriter) all() {
	var names []string
	for _, m := range pythonDefined.FindAllStringSubmatch(p.String(), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	p.printf("\n\n__all__ = [\n")
	for _, name := range slices.Compact(names) {
		p.printf("    %q,\n", name)
	}
	p.printf("]\n")
}

// pythonDefined finds what a module defines.
var pythonDefined = regexp.MustCompile(`(?m)^(?:class |def |)([A-Za-z]\w*)(?:\(| = |: )`)

// failures writes the module of errors.
func (p *pythonWriter) failures(w *wire) {
	var data []string
	for _, r := range w.reasons {
		data = append(data, p.names[r.data])
	}
	slices.Sort(data)
	p.printf(`"""The errors of the server, each a class by its reason.

Written by go run ./sdk/gen from protocol/model.json. Do not edit.
"""

from __future__ import annotations

import builtins
from typing import Dict, Type

from ._errors import PtywrightError
from ._generated import (
    %s,
)
`, strings.Join(slices.Compact(data), ",\n    "))
	for _, r := range w.reasons {
		p.failure(r)
	}
	p.printf("\n\nERRORS: Dict[str, Type[PtywrightError]] = {\n")
	for _, r := range w.reasons {
		p.printf("    %q: %s,\n", r.reason, errorName(r.reason))
	}
	p.printf("}\n\"\"\"The class of each reason.\"\"\"\n")
}

func (p *pythonWriter) failure(r *reasonDef) {
	bases := "PtywrightError"
	if other := builtinErrors[r.reason]; other != "" {
		bases += ", " + other
	}
	p.printf("\n\nclass %s(%s):\n", errorName(r.reason), bases)
	p.doc("    ", sentence(r.about))
	p.printf("\n    reason = %q\n    code = %d\n", r.reason, r.code)
	p.printf("\n    @property\n    def data(self) -> %s:\n        return %[1]s(self._data)\n",
		p.names[r.data])
}

// call writes the function that makes a request of a method.
func (p *pythonWriter) call(m *methodDef) {
	name := snake(strings.ReplaceAll(strings.TrimPrefix(m.name, "$/"), ".", "_"))
	var required, optional, args []string
	var docs strings.Builder
	for _, f := range m.params.fields {
		if f.required {
			required = append(required, fmt.Sprintf("%s: %s", f.name, p.sent(f.ref)))
		} else {
			optional = append(optional,
				fmt.Sprintf("%s: Optional[%s] = None", f.name, p.sent(f.ref)))
		}
		args = append(args, fmt.Sprintf("%s=%[1]s", f.name))
		if f.doc != "" {
			fmt.Fprintf(&docs, "    %s: %s\n", f.name, sentence(f.doc))
		}
	}
	p.printf("\n\ndef %s(", name)
	if len(optional) > 0 {
		required = append(append(required, "*"), optional...)
	}
	if len(required) > 0 {
		p.printf("\n    %s,\n", strings.Join(required, ",\n    "))
	}
	result := p.names[m.result]
	p.printf(") -> Call[%s]:\n", result)
	members := strings.TrimRight(docs.String(), "\n")
	if members != "" {
		members = "Args:\n" + members
	}
	also := ""
	if len(m.params.oneOf) > 0 {
		also = "Give one of " + strings.Join(m.params.oneOf, " and ") + "."
	}
	if len(m.params.notBoth) > 0 {
		also = "Give at most one of " + strings.Join(m.params.notBoth, " and ") + "."
	}
	p.doc("    ", m.about, also, members, "Reasons of errors: "+strings.Join(m.reasons, ", ")+".")
	p.printf("    return Call(%q, given(%s), %s)\n", m.name, strings.Join(args, ", "), result)
}

// unasync turns asynchronous Python into what does the same in a thread. It knows no Python: it
// replaces words that mean nothing else, and the names of modules that have two faces.
func unasync(source []byte, from string) []byte {
	text := string(source)
	for _, old := range slices.Sorted(maps.Keys(asyncWords)) {
		text = strings.ReplaceAll(text, old, asyncWords[old])
	}
	note := fmt.Sprintf("# Written by go run ./sdk/gen from %s. Do not edit.\n", from)
	return []byte(note + text)
}

var asyncWords = map[string]string{
	"async def ": "def ", "async with ": "with ", "async for ": "for ", "await ": "",
	"__aenter__": "__enter__", "__aexit__": "__exit__", "__aiter__": "__iter__",
	"__anext__": "__next__", "StopAsyncIteration": "StopIteration", "AsyncIterator": "Iterator",
	"from .. import _": "from . import _", "from .._": "from ._",
	"ptywright.aio": "ptywright",
}

// pythonPackage is where the Python SDK is.
const pythonPackage = "sdk/python/src/ptywright"

// pythonFiles adds the generated files of the Python SDK to all.
func pythonFiles(all map[string][]byte, w *wire, root string) error {
	generated, failures := pythonOf(w)
	all[pythonPackage+"/_generated.py"], all[pythonPackage+"/_failures.py"] = generated, failures
	for _, name := range []string{"_client.py", "_screens.py", "_session.py"} {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(pythonPackage),
			"aio", name))
		if err != nil {
			return err
		}
		all[pythonPackage+"/"+name] = unasync(source, "aio/"+name)
	}
	return nil
}
