//go:build unix && !linux

package repl

const readable = 0x4004667f // FIONREAD, which package unix lacks; sys/filio.h
