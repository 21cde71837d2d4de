package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/remote"
	"github.com/ptywright/ptywright/protocol/client"
)

// keptFlags say what is kept of a new session, and which adapter drives it.
type keptFlags struct {
	adapter                string
	scrollback, transcript int
}

// Bounds on what is kept, as in the server: a million lines are some 200 MB, and 64 Mi characters
// all the output of a long day.
const (
	mostScrollback = 1_000_000
	mostTranscript = 64 << 20
)

func (k *keptFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&k.adapter, "adapter", "", "start it with the adapter `NAME`, which drives it; without PROGRAM the adapter's own")
	fs.IntVar(&k.scrollback, "scrollback", 10_000, "keep so many lines that have left the screen, up to 1000000; 0 keeps none")
	fs.IntVar(&k.transcript, "transcript", 128<<10, "keep so many characters of output, for logs and read --output, up to 67108864; 0 keeps none")
	_ = c.RegisterFlagCompletionFunc("adapter", pluginNames)
}

// config adds the bounds to a session's configuration. Values that make no sense are refused here,
// in the flags' words.
func (k *keptFlags) config(c *cobra.Command, o *client.Config) error {
	for _, x := range []struct {
		name        string
		value, most int
		to          **int
	}{{"scrollback", k.scrollback, mostScrollback, &o.ScrollbackMaxLines}, {"transcript", k.transcript, mostTranscript, &o.TranscriptMaxChars}} {
		switch {
		case !c.Flags().Changed(x.name):
		case x.value < 0 || x.value > x.most:
			return cli.Usagef("--%s is %d: give 0 to %d", x.name, x.value, x.most)
		default:
			*x.to = &x.value
		}
	}
	return nil
}

// adapterTakes are the flags of spawn that apply to a program with an adapter: its manifest sets
// the rest.
var adapterTakes = map[string]bool{"adapter": true, "rows": true, "cols": true, "cwd": true, "env": true, "name": true, "server-env": true, "socket": true, "json": true}

// check refuses arguments that make no sense.
func (k *keptFlags) check(c *cobra.Command, args []string) error {
	if k.adapter == "" && !c.Flags().Changed("adapter") {
		return cobra.MinimumNArgs(1)(c, args)
	}
	if k.adapter == "" {
		return cli.Usagef("--adapter is empty: ptywright adapter list names those that there are")
	}
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		if !adapterTakes[f.Name] {
			err = cli.Usagef("--%s cannot be combined with --adapter, which takes --name, --rows, --cols, --cwd, --env and --server-env", f.Name)
		}
	})
	return err
}

// start starts a program with the adapter and prints its session's id. fresh: the server was
// started for it.
func (k *keptFlags) start(ctx context.Context, std cli.Stdio, s *remote.Server, o client.Config, fresh, asJSON bool) error {
	a, err := s.StartAdapter(ctx, k.adapter, o)
	if err != nil {
		return err
	}
	if asJSON {
		return std.JSON(struct {
			remote.Started
			Fresh bool `json:"started_server"`
		}{a, fresh})
	}
	_, err = fmt.Fprintln(std.Out, a.Session)
	return err
}
