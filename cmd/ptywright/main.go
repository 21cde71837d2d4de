// Command ptywright lets programs use terminal programs the way a person does. Package app below
// internal makes the root of all commands and runs one.
package main

import "github.com/ptywright/ptywright/cmd/ptywright/internal/app"

func main() { app.Main() }
