package plugins

import "fmt"

// A PermissionError says which permission a plugin's manifest does not request.
type PermissionError struct {
	Plugin     string
	Permission Permission
	Action     string // of the plugin's own that needs it; "" when it is the client's request
}

// Error names plugin, permission and action.
func (e *PermissionError) Error() string {
	if e.Action != "" {
		return fmt.Sprintf("plugin %s returned the action %s, for which its manifest has no permission %s", e.Plugin, clip(e.Action), e.Permission)
	}
	return fmt.Sprintf("the manifest of plugin %s has no permission %s", e.Plugin, e.Permission)
}

// require returns a *PermissionError when the manifest does not request p.
func (m *Manifest) require(p Permission, action string) error {
	if m.Allows(p) {
		return nil
	}
	return &PermissionError{Plugin: m.Name, Permission: p, Action: action}
}

// Require returns a *[PermissionError] unless the manifest requests everything in wanted.
func (m *Manifest) Require(wanted ...Permission) error {
	for _, p := range wanted {
		if err := m.require(p, ""); err != nil {
			return err
		}
	}
	return nil
}
