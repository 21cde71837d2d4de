//go:build linux || darwin

package daemon

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignServerIsToldNothing: who connects to a socket where another user listens finds out
// before the first byte is sent.
func TestForeignServerIsToldNothing(t *testing.T) {
	dir, err := os.MkdirTemp("", "d") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	euid = func() int { return os.Geteuid() + 1 } // whose server it is not
	defer func() { euid = os.Geteuid }()
	for name, call := range map[string]func(context.Context) error{
		"Dial":       func(ctx context.Context) error { _, err := Dial(ctx, path); return err },
		"DialStream": func(ctx context.Context) error { _, err := DialStream(ctx, path); return err },
		"Ensure":     func(ctx context.Context) error { _, err := Ensure(ctx, path); return err },
		"Stop":       func(ctx context.Context) error { _, err := Stop(ctx, path); return err },
		"PID":        func(ctx context.Context) error { _, err := PID(ctx, path); return err },
	} {
		err := call(t.Context())
		var dial *DialError
		if !errors.As(err, &dial) || !errors.Is(err, ErrRefused) || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "is told nothing") {
			t.Errorf("%s: %v", name, err)
		}
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if said, err := io.ReadAll(c); len(said) > 0 || err != nil {
			t.Errorf("%s has said %q, %v", name, said, err)
		}
		c.Close()
	}
}
