//go:build !darwin && !windows

package proxy

import "context"

// fromSystem reads GNOME's settings, on a machine that has them.
func fromSystem(ctx context.Context) found {
	return fromGSettings(ask(ctx, "gsettings", "list-recursively", "org.gnome.system.proxy"))
}
