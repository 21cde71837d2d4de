package native

import (
	"context"
	"time"

	"github.com/ptywright/ptywright/protocol"
)

// hostParams are those of a method that another host can be asked for. A hub takes them out before
// anything comes here; see package far.
type hostParams struct {
	Host string `json:"host,omitempty" jsonschema:"the machine that is asked, as hosts.toml names it; default this one"`
}

// here refuses another machine than this one.
func (p hostParams) here() error {
	if p.Host != "" {
		return &hostlessError{p.Host}
	}
	return nil
}

// A hostlessError reports a request for another machine to a server that knows none.
type hostlessError struct{ host string }

func (e *hostlessError) Error() string {
	return "unknown host " + protocol.Quote(e.host, 32) +
		": this server knows none; ptywright serve --hosts names the file that they stand in"
}

// hostData is what is known of a host that is away.
type hostData struct {
	Host  string    `json:"host"`
	Since time.Time `json:"since" jsonschema:"by the clock of the machine that tells it"`
	Error string    `json:"error" jsonschema:"what happened last, for people"`
}

type unreachableData struct {
	hostData
	RetryMS int64 `json:"retry_ms,omitempty" jsonschema:"when it is tried again"`
}

type lostData struct {
	hostData
	Unknown bool `json:"unknown" jsonschema:"true: it may have been done"`
}

type serverLostData struct {
	Host string `json:"host"`
}

// awayParts are what a list that hosts are asked for has beside the list.
type awayParts struct {
	Away []awayShape `json:"away,omitempty" jsonschema:"hosts that the list is without"`
}

type awayShape struct {
	Host  string    `json:"host"`
	State string    `json:"state" jsonschema:"down or silent"`
	Since time.Time `json:"since"`
	Error string    `json:"error" jsonschema:"for people"`
}

type setHostsParams struct {
	Hosts *bool `json:"hosts" jsonschema:"false: this connection sees this machine alone; true: the others, too, as at first"`
}

type setHostsResult struct {
	Hosts bool `json:"hosts"`
}

// setHosts answers for this machine; a hub listens, too.
func (c *client) setHosts(_ context.Context, p setHostsParams) (setHostsResult, error) {
	if p.Hosts == nil {
		return setHostsResult{}, &protocol.ParamError{Path: "hosts", Expected: "a boolean"}
	}
	return setHostsResult{*p.Hosts}, nil
}

type hostsParams struct {
	Check bool   `json:"check,omitempty" jsonschema:"true asks each of them now; default false tells what is known"`
	Host  string `json:"host,omitempty" jsonschema:"only this one"`
}

type hostsResult struct {
	Hosts []hostShape `json:"hosts"`
}

type hostShape struct {
	Host     string     `json:"host"`
	State    string     `json:"state" jsonschema:"none (nobody has needed it), up, silent or down"`
	Version  string     `json:"version,omitempty" jsonschema:"of the program there, when it answered last"`
	Sessions *int       `json:"sessions,omitempty" jsonschema:"with check: how many it has"`
	RoundMS  *float64   `json:"round_trip_ms,omitempty" jsonschema:"with check: how long a question and its answer take"`
	Since    *time.Time `json:"since,omitempty" jsonschema:"since when it is away"`
	Error    string     `json:"error,omitempty" jsonschema:"why, for people"`
}

// serverHosts answers for a server without a hub, which knows no hosts.
func (c *client) serverHosts(context.Context, hostsParams) (hostsResult, error) {
	return hostsResult{Hosts: []hostShape{}}, nil
}
