//go:build !race

package lanes

// Race says that the race detector is on.
const Race = false
