package plugins

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A shape is the value that a manifest key takes, in words for people, with an example.
type shape struct {
	want, example string
	is            func(value any) bool
	keys          map[string]shape // of a table with known keys
}

var (
	textShape  = shape{want: "text in quotes", example: `"1.0.0"`, is: isText}
	wholeShape = shape{want: "a whole number", example: "40",
		is: func(v any) bool { _, ok := v.(int64); return ok }}
	boolShape = shape{want: "true or false", example: "true",
		is: func(v any) bool { _, ok := v.(bool); return ok }}
	listShape = shape{want: "a list of texts", example: `["a", "b"]`, is: func(v any) bool {
		list, ok := v.([]any)
		return ok && !slices.ContainsFunc(list, func(e any) bool { return !isText(e) })
	}}
	envShape = shape{want: "a table of names and texts", example: `{ NO_COLOR = "1" }`,
		is: func(v any) bool {
			table, ok := v.(map[string]any)
			return ok &&
				!slices.ContainsFunc(slices.Collect(maps.Values(table)),
					func(e any) bool { return !isText(e) })
		}}
	targetShape = shape{want: "a table", example: "[default_target]", is: isTable,
		keys: map[string]shape{
			"program": textShape, "args": listShape, "rows": wholeShape, "cols": wholeShape,
			"env": envShape, "required_env": envShape,
		}}
	manifestShape = shape{keys: map[string]shape{
		"name": textShape, "kind": textShape, "version": textShape, "runtime": textShape,
		"entrypoint": textShape, "permissions": listShape, "program_status": boolShape,
		"shell_integration": boolShape, "default_target": targetShape,
	}}
)

func isText(v any) bool  { _, ok := v.(string); return ok }
func isTable(v any) bool { _, ok := v.(map[string]any); return ok }

// check returns every key of a table that is unknown or has the wrong type.
func (s shape) check(prefix string, table map[string]any) []*ManifestError {
	var faults []*ManifestError
	for _, name := range slices.Sorted(maps.Keys(table)) {
		key := prefix + name
		known, ok := s.keys[name]
		switch value := table[name]; {
		case !ok:
			faults = append(faults,
				&ManifestError{Key: key,
					Err: fmt.Errorf("unknown key: remove it, or use one of %s",
						strings.Join(slices.Sorted(maps.Keys(s.keys)), ", "))})
		case !known.is(value):
			faults = append(faults,
				&ManifestError{Key: key,
					Err: fmt.Errorf("it must be %s, as %s, and is %s", known.want, known.example,
						inWords(value))})
		case known.keys != nil:
			faults = append(faults, known.check(key+".", value.(map[string]any))...)
		}
	}
	return faults
}

// inWords describes a TOML value.
func inWords(value any) string {
	switch x := value.(type) {
	case string:
		return "text"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a fraction"
	case bool:
		return fmt.Sprint(x)
	case time.Time:
		return "a date"
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if !isText(x[name]) {
				return fmt.Sprintf("a table whose %s is %s", clip(name), inWords(x[name]))
			}
		}
		return "a table"
	case []map[string]any:
		return "a list of tables"
	case []any:
		for _, e := range x {
			if !isText(e) {
				return "a list with " + inWords(e) + " in it"
			}
		}
		return "a list"
	}
	return "something else"
}

// LintManifest returns everything that is wrong with the text of a manifest, by line, and nil for
// one that [ParseManifest] accepts. Text that is not TOML has one fault.
func LintManifest(text []byte) []*ManifestError {
	_, faults := readManifest(text)
	return faults
}

// located adds each key's line in the text, and sorts.
func located(text []byte, faults []*ManifestError) []*ManifestError {
	for _, f := range faults {
		if f.Line == 0 {
			f.Line = lineOf(text, f.Key)
		}
		f.Key = clip(f.Key)
	}
	slices.SortStableFunc(faults, func(a, b *ManifestError) int { return cmp.Compare(uint(a.Line-1), uint(b.Line-1)) }) // missing keys last
	return faults
}

// lineOf returns the line of a key, or of the table it is missing from; 0 when unknown: the decoder
// keeps no positions. It reads as much TOML as manifests in use have: a key and its value on one
// line, tables under a header.
func lineOf(text []byte, key string) int {
	lines := strings.Split(string(text), "\n")
	for want := key; want != ""; {
		section := ""
		for i, line := range lines {
			line = strings.TrimSpace(line)
			if head, ok := strings.CutPrefix(line, "["); ok && !strings.Contains(line, "=") {
				head, _, _ = strings.Cut(head, "]")
				if section = strings.TrimSpace(strings.Trim(head, "[] ")) +
					"."; section == want+"." {
					return i + 1
				}
				continue
			}
			name, _, ok := strings.Cut(line, "=")
			if ok && section+strings.Trim(strings.TrimSpace(name), `"'`) == want {
				return i + 1
			}
		}
		cut := strings.LastIndexByte(want, '.') // the table that contains it, or lacks it
		if cut < 0 {
			break
		}
		want = want[:cut]
	}
	return 0
}

// ManifestLine returns the line of a key in a manifest, from 1; 0 when it is not known.
func ManifestLine(text []byte, key string) int { return lineOf(text, key) }
