package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// asProgram is the variable that makes this test binary the program that it tests, with the race detector when the
// tests have it. Its value marks the processes of one test: a server's children inherit it. It does not begin with
// PTYWRIGHT_, since a server keeps those from its children.
const asProgram = "BE_PTYWRIGHT"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asAgent {
		scriptedAgent()
		os.Exit(0)
	}
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
