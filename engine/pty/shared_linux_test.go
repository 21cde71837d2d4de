package pty

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Everybody gets what began after they asked, and those who ask while one is under way get the next
// together.
func TestSharedIsFreshAndShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		calls := 0
		s := newShared(func() (began time.Time, err error) {
			mu.Lock()
			calls++
			mu.Unlock()
			began = time.Now()
			time.Sleep(10 * time.Millisecond)
			return began, nil
		})
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond / 2)
				asked := time.Now()
				if began, _ := s.fresh(); began.Before(asked) {
					t.Errorf("asked at %v, got what began at %v", asked, began)
				}
			})
		}
		wg.Wait()
		if calls > 7 { // 50 ms of askers, 10 ms each, and one for the last
			t.Errorf("%d calls for 100 askers", calls)
		}
	})
}
