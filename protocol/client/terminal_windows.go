package client

import "os"

// A terminal is not there.
type terminal struct{}

func openTerminal(in, out *os.File) (*terminal, error) { return nil, ErrNoTerminal }

func (t *terminal) close()                      {}
func (t *terminal) size() (rows, cols int)      { return 0, 0 }
func (t *terminal) enter() error                { return ErrNoTerminal }
func (t *terminal) leave(<-chan struct{})       {}
func (t *terminal) draw(*Frame) error           { return ErrNoTerminal }
func (t *terminal) read() ([]byte, error)       { return nil, ErrNoTerminal }
func (t *terminal) wake()                       {}
func watchTerminal() (<-chan os.Signal, func()) { return nil, func() {} }
func resized(os.Signal) bool                    { return false }
