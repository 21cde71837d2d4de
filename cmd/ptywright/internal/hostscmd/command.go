// Package hostscmd holds the commands about other machines: hosts, which [Command] makes, lists
// those in hosts.toml, checks them and copies this program there; relay, which [Relay] makes, is
// what they run to be reached.
//
// # Goroutines
//
//	started by   does                              ends
//	join         copies standard input             with it, or with the process
//	checkAll     connects to one machine           within 30 seconds; waited for
package hostscmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/hosts"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/protocol/client"
)

// Command is the command hosts.
func Command(std cli.Stdio) *cobra.Command {
	var f remote.Flags
	c := &cobra.Command{
		Use:   "hosts [flags]",
		Short: "List the other machines whose sessions are shown",
		Long: `Ask each machine in hosts.toml, through the server, and tell what answers there: whether the link is
up, the version of ptywright, how many sessions it has, and how long a question takes.

A machine is a command whose standard streams reach a server:

  [hosts.web-3]
  command = ["ssh", "web-3", "ptywright", "relay"]

The file stands beside config.toml, and is read when the server starts. The sessions of web-3 are
web-3/s1 and so on, in every command; ptywright spawn --host web-3 starts one.`,
		Example: `  ptywright hosts
  ptywright hosts check web-3
  ptywright hosts install web-3`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return run(c, &f, func(ctx context.Context) error { return list(ctx, std, &f) })
		},
	}
	f.SocketFlag(c)
	c.Flags().BoolVar(&f.JSON, "json", false, "print one JSON object a line")
	c.AddCommand(checkCommand(std), installCommand(std))
	return c
}

// run runs a command until it is interrupted.
func run(c *cobra.Command, f *remote.Flags, do func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return f.Exit(ctx, do(ctx))
}

// list prints what the server says of the machines.
func list(ctx context.Context, std cli.Stdio, f *remote.Flags) error {
	s, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	var r struct {
		Hosts []json.RawMessage `json:"hosts"`
	}
	if err := s.Call(ctx, "server.hosts", map[string]bool{"check": true}, &r); err != nil {
		return err
	}
	if len(r.Hosts) == 0 && !f.JSON {
		path, err := config.HostsFile()
		if err == nil {
			fmt.Fprintf(std.Err, "the server knows no other machines: it reads %s when it starts\n", fileOf(path))
		}
		return err
	}
	t := &cli.Table{Columns: []cli.Column{
		{Title: "HOST"}, {Title: "STATE"}, {Title: "VERSION", Least: 7, Drop: 2},
		{Title: "SESSIONS", Right: true}, {Title: "ROUND TRIP", Right: true, Drop: 1},
		{Title: "ERROR", Least: 20, Spare: true},
	}}
	for _, raw := range r.Hosts {
		if f.JSON {
			if err := std.JSON(raw); err != nil {
				return err
			}
			continue
		}
		var h client.Host
		if err := json.Unmarshal(raw, &h); err != nil {
			return fmt.Errorf("read the answer of server.hosts: %w", err)
		}
		t.Row(cli.Cell{Text: h.Host, SGR: cli.Bold}, stateCell(h), h.Version, count(h.Sessions),
			round(h.RoundMS), h.Error)
	}
	if f.JSON {
		return nil
	}
	return t.Print(std.Out)
}

func stateCell(h client.Host) cli.Cell {
	c := cli.Cell{Text: h.State, SGR: cli.Green}
	if h.State != "up" {
		c.SGR = cli.Red
		if !h.Since.IsZero() {
			c.Text += " " + cli.Brief(time.Since(h.Since))
		}
	}
	return c
}

func count(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func round(ms *float64) string {
	if ms == nil {
		return ""
	}
	return fmt.Sprintf("%.1f ms", *ms)
}

// fileFlag is the flag of commands that read the file themselves.
func fileFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "hosts", "", "the `hosts.toml` to read (default: the one beside config.toml)")
}

func checkCommand(std cli.Stdio) *cobra.Command {
	var file string
	var f remote.Flags
	c := &cobra.Command{
		Use:   "check [flags] [HOST]...",
		Short: "Connect to machines of hosts.toml and tell what is wrong",
		Long: `Run the command of each HOST, or of all, without the server, and tell what answers there or what is
wrong. Exit code 1 when one of them cannot be reached.`,
		Example: `  ptywright hosts check
  ptywright hosts check web-3 web-4`,
		ValidArgsFunction: config.CompleteHosts(0),
		RunE: func(c *cobra.Command, args []string) error {
			return run(c, &f, func(ctx context.Context) error { return check(ctx, std, &f, file, args) })
		},
	}
	fileFlag(c, &file)
	c.Flags().BoolVar(&f.JSON, "json", false, "print one JSON object a line")
	return c
}

// fileOf names the file of machines for people.
func fileOf(path string) string {
	if path == "" {
		return "any file: there is no configuration here, so name one with --hosts"
	}
	return cli.OneLine(path)
}

// A finding is what check says of a machine.
type finding struct {
	Host      string  `json:"host"`
	OK        bool    `json:"ok"`
	Version   string  `json:"version,omitempty"`
	Sessions  int     `json:"sessions"`
	ConnectMS int64   `json:"connect_ms,omitempty"`
	RoundMS   float64 `json:"round_trip_ms,omitempty"`
	Error     string  `json:"error,omitempty"`
}

// machines returns those of the file with these names, or all.
func machines(file string, names []string) ([]config.Machine, error) {
	all, path, err := config.Hosts(file)
	if err != nil {
		return nil, cli.Error{Err: err, Code: cli.ExitUsage, Reason: "configuration"}
	}
	if len(names) == 0 {
		if len(all) == 0 {
			return nil, cli.Usagef("there are no machines in %s", fileOf(path))
		}
		return all, nil
	}
	var some []config.Machine
	for _, name := range names {
		m, err := config.Find(all, name, path)
		if err != nil {
			return nil, cli.Error{Err: err, Code: cli.ExitMissing, Reason: "unknown_host"}
		}
		some = append(some, m)
	}
	return some, nil
}

// atOnce is how many machines are checked at a time: as many handshakes as a laptop computes
// without delaying each other.
const atOnce = 8

func check(ctx context.Context, std cli.Stdio, f *remote.Flags, file string, names []string) error {
	all, err := machines(file, names)
	if err != nil {
		return err
	}
	found := make([]chan finding, len(all))
	free := make(chan struct{}, atOnce)
	for i, m := range all {
		found[i] = make(chan finding, 1)
		go func() {
			free <- struct{}{}
			defer func() { <-free }()
			found[i] <- checkOne(ctx, m)
		}()
	}
	bad := 0
	for _, one := range found {
		x := <-one
		if !x.OK {
			bad++
		}
		if f.JSON {
			if err := std.JSON(x); err != nil {
				return err
			}
			continue
		}
		if x.OK {
			fmt.Fprintf(std.Out, "%s: ptywright %s, sessions: %d, connected in %d ms, round trip %.1f ms\n",
				x.Host, cli.OneLine(x.Version), x.Sessions, x.ConnectMS, x.RoundMS)
		} else {
			fmt.Fprintf(std.Out, "%s: %s\n", x.Host, cli.OneLine(x.Error))
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if bad > 0 {
		return cli.Error{Err: fmt.Errorf("%d of %d machines cannot be used", bad, len(all)),
			Code: cli.ExitError, Reason: "host_unreachable"}
	}
	return nil
}

func checkOne(ctx context.Context, m config.Machine) finding {
	a, err := hosts.Check(ctx, m)
	x := finding{Host: m.Name, OK: err == nil, Version: a.Version, Sessions: a.Sessions,
		ConnectMS: a.Connect.Milliseconds(), RoundMS: float64(a.Round.Microseconds()) / 1000}
	if err != nil {
		x.Error = hosts.Reason(err)
	}
	return x
}
