//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: needs Linux: it reads memory and CPU time from /proc")
	os.Exit(2)
}
