package repl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/repl/edit"
	"github.com/ptywright/ptywright/internal/ansi"
)

const (
	// maxItems and maxNested bound how much of a table is printed, and maxText how much of a string
	// in one, in bytes: a result may have megabytes; print its parts to see them all.
	maxItems  = 100
	maxNested = 6
	maxText   = 400
)

// quote writes a string as a Lua string.
func quote(s string) string {
	rest := ""
	if len(s) > maxText {
		cut := maxText
		for cut > 0 && s[cut]&0xc0 == 0x80 {
			cut--
		}
		s, rest = s[:cut], fmt.Sprintf(".. %d more bytes", len(s)-cut)
	}
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "\r", `\r`).Replace(s)
	return `"` + cli.OneLine(s) + `"` + rest
}

// show writes the value of an expression.
func (m *machine) show(v lua.LValue) string {
	switch v := v.(type) {
	case lua.LString:
		return cli.Clean(string(v))
	case *lua.LUserData:
		if s, ok := v.Value.(interface{ show(cli.Style, int) string }); ok {
			return s.show(m.style, m.cols())
		}
	}
	return m.nested(v, 0, map[*lua.LTable]bool{})
}

// nested writes a value as Lua, on one line if it fits.
func (m *machine) nested(v lua.LValue, depth int, above map[*lua.LTable]bool) string {
	switch v := v.(type) {
	case *lua.LNilType:
		return m.style.As(cli.Dim, "nil")
	case lua.LBool:
		return m.style.As(cli.Yellow, v.String())
	case lua.LNumber:
		return m.style.As(cli.Cyan, number(float64(v)))
	case lua.LString:
		return m.style.As(cli.Green, quote(string(v)))
	case *lua.LUserData:
		return m.style.As(cli.Blue, cli.OneLine(title(v)))
	case *lua.LTable:
		if above[v] || depth >= maxNested {
			return m.style.As(cli.Dim, "{...}")
		}
		above[v] = true
		defer delete(above, v)
		return m.table(v, depth, above)
	}
	return m.style.As(cli.Dim, v.Type().String())
}

func (m *machine) table(t *lua.LTable, depth int, above map[*lua.LTable]bool) string {
	var parts []string
	n := 0 // length of the list part
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	for i := 1; i <= min(n, maxItems); i++ {
		parts = append(parts, m.nested(t.RawGetInt(i), depth+1, above))
	}
	type pair struct {
		name  string
		value lua.LValue
	}
	var pairs []pair
	t.ForEach(func(k, v lua.LValue) {
		name := ""
		switch k := k.(type) {
		case lua.LNumber:
			if i := float64(k); i >= 1 && i <= float64(n) && i == float64(int(i)) {
				return
			}
			name = "[" + number(float64(k)) + "]"
		case lua.LString:
			if name = string(k); !isName(name) {
				name = "[" + quote(name) + "]"
			}
		default:
			name = "[" + k.Type().String() + "]"
		}
		pairs = append(pairs, pair{name, v})
	})
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	for _, p := range pairs[:min(len(pairs), maxItems)] {
		parts = append(parts, m.style.As(cli.Bold, p.name)+" = "+m.nested(p.value, depth+1, above))
	}
	if more := max(n-maxItems, 0) + max(len(pairs)-maxItems, 0); more > 0 {
		parts = append(parts, m.style.As(cli.Dim, "... "+strconv.Itoa(more)+" more"))
	}
	if len(parts) == 0 {
		return "{}"
	}
	indent := strings.Repeat("  ", depth)
	width := len(indent) + 4
	for _, p := range parts {
		width += edit.Width(ansi.Strip(p)) + 2
	}
	if width <= m.cols() && !strings.Contains(strings.Join(parts, ""), "\n") {
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return "{\n" + indent + "  " + strings.Join(parts, ",\n"+indent+"  ") + "\n" + indent + "}"
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') &&
			(i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && !keywords[s]
}

// title names a host object inside another value.
func title(u *lua.LUserData) string {
	if s, ok := u.Value.(fmt.Stringer); ok {
		return s.String()
	}
	return "userdata"
}

func (null) String() string { return "json.null" }
