// Package unknown finds members of a request's params that a server ignores, which are probably
// typing errors. [In] is the entry point.
package unknown

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/internal/nearest"
)

// A Member is an ignored member.
type Member struct {
	Path string // "matcher.value[1].vlaue"
	Near string // what is probably meant; "": unknown
}

func (m Member) String() string {
	s := fmt.Sprintf("%s is not a known member and was ignored", m.Path)
	if m.Near != "" {
		s += fmt.Sprintf(": did you mean %s?", m.Near)
	}
	return s
}

// most bounds what is reported: a person reads no more.
const most = 8

// depth bounds the search: a server's matchers are at most as deep.
const depth = 32

// values are the members of matchers' and actions' values, by type, where these are objects. A lua
// matcher's params are its own.
var values = map[string][]string{
	"cursor_at": {"row", "col"}, "located": {"locator", "count"},
	"screen": {"screen", "masks", "region"},
	"click":  {"locator", "row", "col", "at", "button", "mods", "count"}, "drag": {"from", "to", "button", "mods"},
	"scroll": {"in", "towards", "by", "mods"}, "screen_stable": {"min_ms"}, "command_finished": {"exit_code"},
	"key": {"key", "event"}, "mouse": {"row", "col", "button", "action", "mods"},
	"mark_transcript": {"label"}, "resize": {"rows", "cols", "pixel_width", "pixel_height"},
	"stream_text": {"text", "chunk_chars", "delay_ms"},
}

// In returns the members of params that are ignored, sorted by name. known are the params that the
// method has; nil: unknown, and only the matchers and actions inside are checked.
func In(params map[string]any, known []string) []Member {
	var found []Member
	if known != nil {
		found = other("", params, known)
	}
	found = append(found, Matcher(params["matcher"])...)
	found = append(found, node("action", params["action"], []string{"type", "value"}, 0)...)
	if list, ok := params["actions"].([]any); ok {
		for i, a := range list {
			found = append(found,
				node(fmt.Sprintf("actions[%d]", i), a, []string{"type", "value"}, 0)...)
		}
	}
	return found[:min(len(found), most)]
}

// Matcher returns the members of a matcher that are ignored.
func Matcher(tree any) []Member {
	found := node("matcher", tree, []string{"type", "value", "scope"}, 0)
	return found[:min(len(found), most)]
}

// node checks a matcher or an action, and what it contains.
func node(path string, tree any, known []string, level int) []Member {
	o, ok := tree.(map[string]any)
	if !ok || level > depth {
		return nil
	}
	found := other(path+".", o, known)
	switch value := o["value"].(type) {
	case []any: // any and all
		for i, part := range value {
			found = append(found,
				node(fmt.Sprintf("%s.value[%d]", path, i), part, known, level+1)...)
		}
	case map[string]any:
		name, _ := o["type"].(string)
		if name == "not" {
			return append(found, node(path+".value", value, known, level+1)...)
		}
		if of, ok := values[name]; ok {
			found = append(found, other(path+".value.", value, of)...)
		}
	}
	return found
}

// other returns the members of an object that are not known.
func other(prefix string, o map[string]any, known []string) (found []Member) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if slices.Contains(known, name) {
			continue
		}
		near := nearest.Of(name, known)
		if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k, name+"_") }); near == "" && i >= 0 { // the name without its unit
			near = known[i]
		}
		found = append(found, Member{prefix + name, near})
	}
	return found
}
