// Command bench measures the ptywright binary through its wire and prints one Markdown table: each
// figure beside that of the simplest program that could do the same (a PTY reader, a server of the
// same wire that parses nothing, a loop over lines), measured in the same run, and the ratio of the
// two beside its bar.
//
//	go run ./bench              # builds ./cmd/ptywright and takes about two minutes
//	go run ./bench -flood 1000  # the flood with its full size, in MB
//	go run ./bench -only 'start|requests' -repeats 9
//
// Absolute figures depend on the host and its load; the ratios are what the project promises. Both
// sides of a ratio run alternately, so that outside load affects both, and the table shows medians.
// Bench runs on Linux, because it reads /proc.
package main
