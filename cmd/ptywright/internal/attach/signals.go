package attach

import (
	"os"
	"os/signal"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
)

// signals are the notifications of the operating system.
type signals struct {
	ending, resized, stopped chan os.Signal
}

func watchSignals() *signals {
	s := &signals{ending: make(chan os.Signal, 1), resized: make(chan os.Signal, 1),
		stopped: make(chan os.Signal, 1)}
	ending.Notify(s.ending)
	notify(s)
	return s
}

func (s *signals) stop() {
	for _, c := range []chan os.Signal{s.ending, s.resized, s.stopped} {
		signal.Stop(c)
	}
}

// unstick ends the process if it does not end after a signal, because a terminal that does not read
// blocks it in a write. It calls restore first. The returned function stops watching.
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
