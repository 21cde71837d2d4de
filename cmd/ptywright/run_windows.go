package main

import "os"

// notifyResize does nothing: Windows tells no one.
func notifyResize(chan<- os.Signal) {}

// signalNumber is that of Ctrl-C, the only one that arrives.
func signalNumber(os.Signal) int { return 2 }
