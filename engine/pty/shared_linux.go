package pty

import "sync"

// A shared lets concurrent callers share one costly result: three hundred sessions closed at once
// read the process table a few times, not a thousand.
type shared[T any] struct {
	get  func() (T, error)
	turn chan struct{} // held while get runs

	mu   sync.Mutex
	next *pending[T] // has not begun: new callers may join
}

type pending[T any] struct {
	done  chan struct{} // closed when the fields below are set
	value T
	err   error
}

func newShared[T any](get func() (T, error)) *shared[T] {
	return &shared[T]{get: get, turn: make(chan struct{}, 1)}
}

// fresh returns a result of a get that began after fresh was called.
func (s *shared[T]) fresh() (T, error) {
	s.mu.Lock()
	if p := s.next; p != nil {
		s.mu.Unlock()
		<-p.done
		return p.value, p.err
	}
	p := &pending[T]{done: make(chan struct{})}
	s.next = p
	s.mu.Unlock()
	s.turn <- struct{}{}
	s.mu.Lock()
	s.next = nil // it begins now, so later callers need another
	s.mu.Unlock()
	p.value, p.err = s.get()
	<-s.turn
	close(p.done)
	return p.value, p.err
}
