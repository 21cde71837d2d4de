package proxy

import "context"

// fromSystem asks what the Network settings say.
func fromSystem(ctx context.Context) found {
	return fromScutil(ask(ctx, "/usr/sbin/scutil", "--proxy"))
}
