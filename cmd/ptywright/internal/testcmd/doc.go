// Package testcmd holds `ptywright test`: [Command] makes it, and a runner runs scripts of package
// script side by side, each file by itself, and tells reporters of the results.
//
// Goroutines: one a worker, at most as many as --jobs, each with one file at a time; the caller of run
// waits for all of them, and is the only one that reporters are called from.
package testcmd
