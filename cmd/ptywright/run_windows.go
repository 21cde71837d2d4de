package main

import "os"

// notifyResize does nothing: Windows tells no one.
func notifyResize(chan<- os.Signal) {}
