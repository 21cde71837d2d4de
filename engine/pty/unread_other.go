//go:build !linux

package pty

import "context"

// Unread would return how many bytes of typed input no process has read yet. Only Linux tells: here
// the error is always an [*UnreadError].
func (p *PTY) Unread() (int, error) { return 0, &UnreadError{} }

// AwaitRead would block until everything typed was read. Only Linux tells: here the error is always
// an [*UnreadError].
func (p *PTY) AwaitRead(context.Context) error { return &UnreadError{} }
