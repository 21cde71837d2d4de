package engine

import "time"

// A Tap sees every byte a child writes, in order, before it is parsed, and every resize. Its methods are called one at
// a time; a slow tap slows its session and nothing else. An error detaches the tap, is kept for [Session.TapError] and
// does the session no other harm. Close is called once, after the last byte or when it was detached.
type Tap interface {
	Output(at time.Time, p []byte) error
	Resize(at time.Time, rows, cols int) error
	Close() error
}
