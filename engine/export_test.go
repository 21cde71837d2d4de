package engine

import "time"

// SecretLine is for the tests.
type SecretLine = secretLine

// Feed is what the pump does with a batch.
func (s *Session) Feed(p []byte, now time.Time) { s.feed(p, now) }
