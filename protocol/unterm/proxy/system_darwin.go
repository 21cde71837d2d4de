package proxy

import "context"

// fromSystem reads the Network settings.
func fromSystem(ctx context.Context) found {
	return fromScutil(ask(ctx, "/usr/sbin/scutil", "--proxy"))
}
