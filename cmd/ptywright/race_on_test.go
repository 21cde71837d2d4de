//go:build race

package main

// raceEnabled says that memory is the detector's rather than ours.
const raceEnabled = true
