package testcmd

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/cli"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/testreport"
	"github.com/ptywright/ptywright/tuitest/script"
)

// reports writes a report of a run, and prints it in a format.
type reports struct {
	std    cli.Stdio
	w      *testreport.Writer
	people bool // standard output is for people
}

// Result reports a result, and says where the report of a failure is.
func (r *reports) Result(x *script.Result) error {
	dir, err := r.w.Result(*x)
	if err == nil && dir != "" && r.people {
		_, err = fmt.Fprintf(r.std.Out, "%sreport: %s\n", indent, cli.OneLine(filepath.Join(dir, "report.html")))
	}
	return err
}

// Done does nothing: each result was reported.
func (r *reports) Done([]*script.Result) error { return nil }

// End reports the run.
func (r *reports) End(s *Summary) error { return r.w.End(time.Duration(s.Took)) }
