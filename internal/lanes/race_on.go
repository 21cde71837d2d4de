//go:build race

package lanes

// Race says that the race detector is on: memory is the detector's rather than ours, and what
// computes takes ten to twenty times as long.
const Race = true
