package native

import (
	"strings"

	"github.com/ptywright/ptywright/protocol"
)

// Notifications are all that there are.
var Notifications = notifications

// Needs returns what the methods on adapters need of a manifest, as the table has it.
func Needs() map[string][]string {
	all := map[string][]string{}
	for _, r := range table {
		if strings.HasPrefix(r.name, "adapter.") || len(r.needs) > 0 {
			all[r.name] = nil
			for _, p := range r.needs {
				all[r.name] = append(all[r.name], string(p))
			}
		}
	}
	return all
}

// Rights returns what each method needs of a connection; unstated are those of which the table does
// not say it.
func Rights() (rights map[string]protocol.Rights, unstated []string) {
	rights = map[string]protocol.Rights{}
	for _, r := range table {
		if rights[r.name] = r.rights; !r.stated {
			unstated = append(unstated, r.name)
		}
	}
	return rights, unstated
}

// RightsTable returns the rows of a page that say what each method needs.
func RightsTable() (rows []string) {
	for _, right := range protocol.RightNames() {
		var names []string
		for _, r := range table {
			if r.rights.String() == right {
				names = append(names, "`"+r.name+"`")
			}
		}
		rows = append(rows, "| `"+right+"` | "+strings.Join(names, ", ")+" |\n")
	}
	return rows
}
