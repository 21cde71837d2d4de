//go:build !linux

package pty

import "context"

// Unread would return how many bytes of typed input no process has read yet. Only Linux tells: here
// the error is always an [*UnreadError].
func (p *PTY) Unread() (int, error) { return 0, &UnreadError{} }

// UnreadAfter would also return how much output had been written before that. Only Linux tells: here
// the error is always an [*UnreadError].
func (p *PTY) UnreadAfter() (int, uint64, error) { return 0, 0, &UnreadError{} }

// Written would count the bytes of output that have been written. Only Linux tells: here the error is
// always an [*UnreadError].
func (p *PTY) Written() (uint64, bool, error) { return 0, false, &UnreadError{} }

// AwaitRead would block until everything typed was read. Only Linux tells: here the error is always
// an [*UnreadError].
func (p *PTY) AwaitRead(context.Context) error { return &UnreadError{} }
