package ending

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Until returns a context that the first signal to end cancels, and one that the second
// cancels: after that nothing is waited for. A server with many clients keeps running when its
// terminal hangs up.
func Until(ctx context.Context, stdio bool) (first, second context.Context, stop func()) {
	first, cancelFirst := context.WithCancel(ctx)
	second, cancelSecond := context.WithCancel(context.WithoutCancel(ctx))
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if stdio {
		signal.Notify(signals, syscall.SIGHUP)
	} else {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // caught and dropped, so that children do not ignore it
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a write fails instead
	done := make(chan struct{})
	go func() {
		for _, cancel := range []func(){cancelFirst, cancelSecond} {
			select {
			case <-signals:
				cancel()
			case <-done:
				return
			}
		}
	}()
	return first, second, func() {
		signal.Stop(signals)
		close(done)
		cancelFirst()
		cancelSecond()
	}
}
