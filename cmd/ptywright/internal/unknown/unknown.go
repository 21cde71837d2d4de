// Package unknown finds members of a request's params that no server heeds: the wire ignores them, and somebody has mistyped them.
// [In] is the entry point.
package unknown

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ptywright/ptywright/internal/nearest"
)

// A Member is one that is ignored.
type Member struct {
	Path string // "matcher.value[1].vlaue"
	Near string // what is probably meant; "": there is no telling
}

func (m Member) String() string {
	s := fmt.Sprintf("%s is not a known member and was ignored", m.Path)
	if m.Near != "" {
		s += fmt.Sprintf(": did you mean %s?", m.Near)
	}
	return s
}

// most bounds what is found: a person reads no more.
const most = 8

// depth bounds how deep is looked: a server's matchers are at most as deep.
const depth = 32

// values are the members of the values of matchers and actions, by type, where they are objects. A lua matcher's params are its own.
var values = map[string][]string{
	"cursor_at": {"row", "col"}, "screen_stable": {"min_ms"}, "command_finished": {"exit_code"},
	"key": {"key", "event"}, "mouse": {"row", "col", "button", "action", "mods"}, "mark_transcript": {"label"},
	"resize": {"rows", "cols", "pixel_width", "pixel_height"}, "stream_text": {"text", "chunk_chars", "delay_ms"},
}

// In returns what of params is ignored, in order of the names. known are the params that the method has; nil: that is not known, and
// only matchers and actions within are looked at.
func In(params map[string]any, known []string) []Member {
	var found []Member
	if known != nil {
		found = other("", params, known)
	}
	found = append(found, Matcher(params["matcher"])...)
	found = append(found, node("action", params["action"], []string{"type", "value"}, 0)...)
	if list, ok := params["actions"].([]any); ok {
		for i, a := range list {
			found = append(found, node(fmt.Sprintf("actions[%d]", i), a, []string{"type", "value"}, 0)...)
		}
	}
	return found[:min(len(found), most)]
}

// Matcher returns what of a matcher is ignored.
func Matcher(tree any) []Member {
	found := node("matcher", tree, []string{"type", "value", "scope"}, 0)
	return found[:min(len(found), most)]
}

// node looks at a matcher or an action, and at what is in it.
func node(path string, tree any, known []string, level int) []Member {
	o, ok := tree.(map[string]any)
	if !ok || level > depth {
		return nil
	}
	found := other(path+".", o, known)
	switch value := o["value"].(type) {
	case []any: // any and all
		for i, part := range value {
			found = append(found, node(fmt.Sprintf("%s.value[%d]", path, i), part, known, level+1)...)
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

// other are the members of an object that are none of the known.
func other(prefix string, o map[string]any, known []string) (found []Member) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if slices.Contains(known, name) {
			continue
		}
		near := nearest.Of(name, known)
		if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k, name+"_") }); near == "" && i >= 0 { // without its unit
			near = known[i]
		}
		found = append(found, Member{prefix + name, near})
	}
	return found
}
