package unterm

import (
	"context"
	"time"

	"github.com/ptywright/ptywright/protocol/unterm/proxy"
)

func proxyStatus(ctx context.Context, s *reader, _ params) (any, error) {
	return s.proxy.Status(ctx)
}

func proxyNodes(_ context.Context, s *reader, _ params) (any, error) { return s.proxy.Nodes(), nil }

func proxySwitch(_ context.Context, s *reader, p params) (any, error) {
	name, err := p.needText("node_name", "Missing 'node_name'")
	if err != nil {
		return nil, err
	}
	return s.proxy.Switch(name)
}

// probeBound is how long a probe of one node takes by default.
const probeBound = 3 * time.Second

func proxySpeedtest(ctx context.Context, s *reader, p params) (any, error) {
	name, _ := p.text("node_name")
	return s.proxy.Speedtest(ctx, name, p.timeout(probeBound))
}

func proxyConfigure(ctx context.Context, s *reader, p params) (any, error) {
	return s.proxy.Configure(ctx, proxy.ReadConfigure(p))
}

func proxyDisable(_ context.Context, s *reader, _ params) (any, error) { return s.proxy.Disable() }

func proxyEnv(ctx context.Context, s *reader, _ params) (any, error) { return s.proxy.Env(ctx) }
