package repl

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/daemon"
)

// Command is the command repl.
func Command(std cli.Stdio) *cobra.Command {
	var socket, eval string
	var own, stop bool
	c := &cobra.Command{
		Use:   "repl [flags] [SCRIPT [ARG...]] | repl --stdio -- COMMAND [ARG...]",
		Short: "Drive sessions by hand, in Lua",
		Long: `Drive sessions by hand, in Lua, with completion, history and drawn screens.

It connects to the server on the default socket, and starts one if none is listening. That server
keeps running with its sessions when you leave, unless you pass --stop-server. --socket PATH connects
to another server and starts none. --stdio -- COMMAND starts a server that ends with the REPL.

On a terminal it is interactive. -e LUA, a SCRIPT or lines on standard input are run, and the first
error ends them. Exit codes: 0 success, 1 error, 2 usage, 3 a wait timed out (standard output
says what was missing), 4 no such session, 5 not permitted.`,
		Example: `  ptywright repl
  ptywright repl -e 's = session.spawn("sh"); s:turn("echo $((6*7))\n", {text = "42"}); print(s:screen().text)'
  ptywright repl --stdio -- ssh build ptywright serve --stdio`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			o, err := replOptions(c, std, socket, own, stop, args)
			if err != nil {
				return err
			}
			switch {
			case eval != "":
				if own {
					args = nil
				}
				return RunSource(c.Context(), o, "-e", eval, args)
			case len(args) > 0 && !own:
				source, rerr := os.ReadFile(args[0])
				if rerr != nil {
					return cli.Usagef("read the script: %w", rerr)
				}
				return RunSource(c.Context(), o, args[0], string(source), args[1:])
			default:
				return Run(c.Context(), o)
			}
		},
	}
	fs := c.Flags()
	fs.StringVar(&socket, "socket", "", "the server's `PATH`; none is started there")
	fs.BoolVar(&own, "stdio", false, "start the command behind -- as a server of the REPL's own")
	fs.StringVarP(&eval, "eval", "e", "", "run this `LUA`, print the values it returns, and leave")
	cli.FlagsFirst(c) // the rest belongs to the script
	fs.BoolVar(&stop, "stop-server", false,
		"when you leave, end the server if the REPL started it")
	return c
}

// replOptions makes the REPL's options from the flags.
func replOptions(c *cobra.Command, std cli.Stdio, socket string, own, stop bool,
	args []string) (o Options, err error) {
	o = Options{In: std.In, Out: std.Out.File, Print: std.Out, Err: std.Err, Stop: stop}
	dash := c.ArgsLenAtDash()
	switch explicit := c.Flags().Changed("socket"); {
	case own && explicit:
		return o, cli.Usagef("--stdio and --socket exclude each other")
	case own && (dash != 0 || len(args) == 0):
		return o, cli.Usagef("--stdio needs a command behind --, such as: ptywright repl --stdio -- ptywright serve --stdio")
	case own:
		o.Server.Own = args
	case explicit:
		o.Server.Path = socket
	}
	path, err := daemon.DefaultSocket()
	if err != nil && !own && socket == "" {
		return o, err
	}
	if err == nil {
		o.Home = filepath.Dir(path)
	}
	self, err := os.Executable()
	if err != nil {
		return o, fmt.Errorf("find this program: %w", err)
	}
	if !own {
		if socket == "" {
			o.Server.Path, o.Server.Start = path, true
		}
		o.Attach = []string{self, "attach", "--socket", o.Server.Path}
	}
	return o, nil
}
