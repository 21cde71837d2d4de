package plugins

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ptywright/ptywright/engine"
)

// actionValues is a value of each type of an action that engine knows.
var actionValues = map[string]string{
	"text": `"x"`, "paste": `"x"`, "bracketed_paste": `"x"`, "stream_text": `"x"`, "key": `"enter"`,
	"mouse":           `{row = 1, col = 1}`,
	"click":           `{row = 0, col = 0}`,
	"drag":            `{from = {row = 0, col = 0}, to = {row = 1, col = 1}}`,
	"scroll":          `{["in"] = {row = 0, col = 0}}`,
	"resize":          `20, 50`,
	"theme":           `"light"`,
	"signal":          `"int"`,
	"mark_transcript": `"here"`,
	"interrupt":       ``, "eof": ``, "kill": ``,
}

// manifestWith is testManifest with these permissions.
func manifestWith(permissions []Permission) string {
	before, after, _ := strings.Cut(testManifest, "permissions = [")
	_, after, _ = strings.Cut(after, "]")
	var quoted []string
	for _, p := range permissions {
		quoted = append(quoted, strconv.Quote(string(p)))
	}
	return before + "permissions = [" + strings.Join(quoted, ", ") + "]" + after
}

// TestEveryAction: a plugin may return each action that the engine knows. It is made by the library,
// done when the manifest has its permission, and refused by name when it does not; no action brings
// the server down.
func TestEveryAction(t *testing.T) {
	for _, kind := range engine.ActionTypes() {
		value, known := actionValues[kind]
		if !known {
			t.Errorf("engine has the action %s: give this test a value, and plugins a permission, "+
				"a function in library.lua and a word in docs/plugins.md", kind)
			continue
		}
		t.Run(kind, func(t *testing.T) {
			send := func(permissions ...Permission) (err error) {
				synctest.Test(t, func(t *testing.T) {
					d := driveWith(t, manifestWith(permissions), `return {
						classify = function(s) return {state = "fine"} end,
						act = function() return {actions = {ptywright.action.`+kind+`(`+value+`)}} end}`)
					defer d.close(t)
					bound, cancel := context.WithTimeout(context.Background(), maxExpect)
					defer cancel()
					_, _, err = d.Send(bound, SendOptions{Intent: "act"})
				})
				return err
			}
			// The program has no mouse.
			if err := send(Permissions()...); err != nil && !errors.Is(err, engine.ErrNoMouse) {
				t.Errorf("with every permission: %v", err)
			}
			needs := ActionPermission(kind)
			err := send(slices.DeleteFunc(Permissions(), func(p Permission) bool { return p == needs })...)
			refused := (*PermissionError)(nil)
			if !errors.As(err, &refused) || refused.Permission != needs || refused.Action != kind {
				t.Errorf("without the permission %q: %v", needs, err)
			}
		})
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "plugins.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "`ptywright.action`:")
	list, _, _ = strings.Cut(list, "`expect(")
	for _, kind := range engine.ActionTypes() {
		if !strings.Contains(list, "`"+kind) {
			t.Errorf("docs/plugins.md does not list the action %s", kind)
		}
	}
}
