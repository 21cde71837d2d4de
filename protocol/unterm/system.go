package unterm

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
)

// Values that clients of Unterm may look for. The true ones are beside them.
const (
	serverName   = "Unterm MCP Server"
	productName  = "Unterm"
	wireVersion  = "2.0.0"
	engineName   = "Unterm (ptywright)"
	ptywright    = "ptywright"
	wireProtocol = "json-rpc-2.0"
)

func serverInfo(_ context.Context, s *reader, _ params) (any, error) {
	return struct {
		Name     string `json:"name"`
		Version  string `json:"version"`
		Engine   string `json:"engine"`
		Protocol string `json:"protocol"`
		Server   string `json:"server"`
		Product  string `json:"server_version"`
	}{serverName, wireVersion, engineName, wireProtocol, ptywright, s.Version}, nil
}

type health struct {
	Status string `json:"status"` // ok or degraded
	Engine string `json:"engine"`
	MCP    struct {
		Bind      string `json:"bind"`
		Port      int    `json:"port"` // the one listened on; Unterm always returns the preferred one
		Preferred int    `json:"preferred_port"`
		Auth      string `json:"auth"`
	} `json:"mcp"`
	Mux struct {
		Available bool `json:"available"`
		Panes     int  `json:"pane_count"`
	} `json:"mux"`
	Terminal struct {
		Cols   int     `json:"initial_cols"`
		Rows   int     `json:"initial_rows"`
		Scheme *string `json:"color_scheme"` // null: there is no window to colour
		Term   string  `json:"term"`
	} `json:"terminal"`
}

// health is degraded when no further pane can be started, or when the record by which clients find
// this instance is missing.
func (s *Server) health() health {
	h := health{Status: "ok", Engine: engineName}
	h.MCP.Bind, h.MCP.Port, h.MCP.Preferred, h.MCP.Auth = "127.0.0.1", s.port(), s.opts.Port,
		"token"
	h.Mux.Panes = len(s.panes.all())
	h.Mux.Available = h.Mux.Panes < s.Engine.Limit()
	h.Terminal.Cols, h.Terminal.Rows, h.Terminal.Term = paneCols, paneRows, "xterm-256color"
	if !h.Mux.Available {
		h.Status = "degraded"
	}
	return h
}

func serverHealth(_ context.Context, s *reader, _ params) (any, error) { return s.health(), nil }

// arches are Unterm's names for Go's.
var arches = map[string]string{"amd64": "x86_64", "arm64": "aarch64", "386": "x86"}

// platform is the system's name as Unterm has it.
func platform() string {
	if runtime.GOOS == "darwin" {
		return "macos"
	}
	return runtime.GOOS
}

func arch() string {
	if name, ok := arches[runtime.GOARCH]; ok {
		return name
	}
	return runtime.GOARCH
}

func systemInfo(_ context.Context, s *reader, _ params) (any, error) {
	host, _ := os.Hostname()
	live := 0
	for _, p := range s.panes.all() {
		if p.session.View().Exit == nil {
			live++
		}
	}
	return struct {
		Name     string `json:"name"`
		Version  string `json:"version"`
		Engine   string `json:"engine"`
		Platform string `json:"platform"`
		Arch     string `json:"arch"`
		Sessions int    `json:"active_sessions"`
		Host     string `json:"hostname"`
		Server   string `json:"server"`
	}{productName, wireVersion, engineName, platform(), arch(), live, s.clean(host),
		ptywright + " " + s.Version}, nil
}

// errNoAdmin has Unterm's own text.
var errNoAdmin = errors.New("Administrator launch is only supported on Windows")

// shellsAsAdmin are the shells that Unterm would start elevated, by the names it accepts.
var shellsAsAdmin = map[string]string{
	"": "pwsh.exe", "pwsh": "pwsh.exe", "powershell7": "pwsh.exe", "powershell-7": "pwsh.exe",
	"powershell_7": "pwsh.exe", "powershell": "powershell.exe",
	"windows-powershell": "powershell.exe", "windows_powershell": "powershell.exe",
}

// launchAdmin returns what would be started. Another user's rights cannot be had from here, so
// nothing is started.
func launchAdmin(_ context.Context, _ *reader, p params) (any, error) {
	if runtime.GOOS != "windows" {
		return nil, errNoAdmin
	}
	name, _ := p.text("shell")
	shell, ok := shellsAsAdmin[strings.ToLower(name)]
	if !ok {
		return nil, errors.New("Unsupported elevated shell: " + clip(name))
	}
	if !p.is("dry_run") {
		return nil, errors.New("this server has no window that could be started as administrator: start an elevated terminal yourself; dry_run tells the command")
	}
	return struct {
		Status  string   `json:"status"`
		UAC     bool     `json:"requires_uac"`
		Command []string `json:"command"`
	}{"dry_run", true,
		[]string{"powershell.exe", "-NoProfile", "-Command",
			"Start-Process -Verb RunAs " + shell}}, nil
}

// port is the one listened on.
func (s *Server) port() int { return s.listener.Addr().(*net.TCPAddr).Port }
