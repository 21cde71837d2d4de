package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/caller"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/ending"
	"github.com/ptywright/ptywright/protocol/loopback"
	"github.com/ptywright/ptywright/redact"
)

type watchFlags struct {
	socket, casts string
	port          uint16
	open, look    bool
}

// Command is the command watch.
func Command(std cli.Stdio) *cobra.Command {
	var f watchFlags
	c := &cobra.Command{
		Use:   "watch",
		Short: "Show a server's sessions on a local web page",
		Long: `Serve a web page on this machine that shows a server's sessions live, lets you take one over, and
plays recordings. Secrets are hidden.

Two addresses are printed. Anyone with the first can see every session and type: do not share it. With
the second one can only watch: the server refuses everything else. --read-only makes only that one.

A server is started when none listens, as "ptywright spawn" does; with --casts, which needs none, it
is not. The page connects again by itself when the server was restarted.

The recordings are the server's and, with --casts, those of a directory.`,
		Example: `  ptywright watch
  ptywright watch --open --casts ~/casts`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return watchServer(c.Context(), std, f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.socket, "socket", "",
		"`PATH` of the server's socket (default: $PTYWRIGHT_HOME/socket, or ~/.ptywright/socket)")
	flags.StringVar(&f.casts, "casts", "", "also play the recordings (*.cast) in `DIR`")
	flags.Uint16Var(&f.port, "port", 0, "the port on 127.0.0.1 (default: a free one)")
	flags.BoolVar(&f.open, "open", false,
		"open the page in your browser (the secret address is not printed)")
	flags.BoolVar(&f.look, "read-only", false, "make only the address that cannot type")
	return c
}

// watchServer serves the page until a signal arrives.
func watchServer(ctx context.Context, std cli.Stdio, f watchFlags) error {
	ctx, _, stop := ending.Until(ctx, true)
	defer stop()
	usual, err := daemon.DefaultSocket()
	if f.socket = cmp.Or(f.socket, usual); f.socket == "" {
		return err
	}
	if f.casts != "" {
		if info, err := os.Stat(f.casts); err != nil {
			return fmt.Errorf("--casts: %w", err)
		} else if !info.IsDir() {
			return fmt.Errorf("--casts %s: not a folder", f.casts)
		}
	} else { // without a server there would be nothing to show
		started, err := daemon.Ensure(ctx, f.socket)
		if err != nil {
			return err
		}
		if started {
			std.Tell("started a server on %s", f.socket)
		}
	}
	l, err := loopback.Listen(net.JoinHostPort("127.0.0.1", strconv.Itoa(int(f.port))))
	if err != nil {
		return err
	}
	known := new(redact.Known)
	known.AddEnv(os.Environ())
	tokens := Tokens{Read: loopback.NewToken()}
	if !f.look {
		tokens.Write = loopback.NewToken()
	}
	at := func(token string) string { return fmt.Sprintf("http://%s/#token=%s", l.Addr(), token) }
	address := at(cmp.Or(tokens.Write, tokens.Read))
	o := Options{Socket: f.socket, Default: usual, Casts: f.casts, Who: caller.User(),
		Hide: redact.Default.With(known), Version: cli.Version()}
	if f.open {
		remove, err := openBrowser(address)
		if err != nil {
			std.Tell("no browser could be opened (%v): watching at %s", err, address)
		} else {
			defer remove()
			o.Arrived = remove
			std.Tell("watching at http://%s in your browser", l.Addr())
		}
	} else {
		// The only place that shows the tokens.
		std.Tell("watching at %s", address)
		if !f.look {
			std.Tell("for others, who can only look on: %s", at(tokens.Read))
		}
	}
	return Serve(ctx, l, tokens, o)
}

// opener is the command that opens a file in the user's default program.
func opener(path string) *exec.Cmd {
	switch runtime.GOOS {
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", path)
	case "darwin":
		return exec.Command("open", path)
	}
	return exec.Command("xdg-open", path)
}

// openBrowser opens a page at that address, and returns a function that removes the file it uses.
// Every user of the machine can read a command's arguments, so the browser gets the address in a
// file that nobody else can read.
func openBrowser(address string) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "ptywright-watch-") // mode 0700
	if err != nil {
		return nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			remove()
		}
	}()
	path := filepath.Join(dir, "open.html")
	page := `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>ptywright watch</title>` +
		`<meta http-equiv="refresh" content="0; url=` + html.EscapeString(address) + `">`
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		return nil, err
	}
	c := opener(path)
	if err := c.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, fmt.Errorf("%s is not installed", c.Args[0])
		}
		return nil, err
	}
	go func() { _ = c.Wait() }() // a browser may stay open as long as it likes
	return remove, nil
}
