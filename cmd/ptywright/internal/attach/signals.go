package attach

import (
	"os"
	"os/signal"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
)

// signals are what the operating system tells.
type signals struct {
	ending, resized, stopped chan os.Signal
}

func watchSignals() *signals {
	s := &signals{ending: make(chan os.Signal, 1), resized: make(chan os.Signal, 1), stopped: make(chan os.Signal, 1)}
	ending.Notify(s.ending)
	notify(s)
	return s
}

func (s *signals) stop() {
	for _, c := range []chan os.Signal{s.ending, s.resized, s.stopped} {
		signal.Stop(c)
	}
}

// unstick ends the process when it was told to end and does not, as a terminal that takes nothing keeps it in a write. restore is
// called before. The function returned ends the watching.
func (s *signals) unstick(restore func()) (end func()) {
	told, over := make(chan os.Signal, 1), make(chan struct{})
	ending.Notify(told)
	go func() {
		select {
		case which := <-told:
			bound := time.NewTimer(stuckBound)
			defer bound.Stop()
			select {
			case <-bound.C:
				restore()
				os.Exit(ending.Code(which))
			case <-over:
			}
		case <-over:
		}
	}()
	return func() {
		signal.Stop(told)
		close(over)
	}
}
