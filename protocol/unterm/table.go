package unterm

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A row is a method. It may block, which delays only its own connection.
type row func(ctx context.Context, s *reader, p params) (any, error)

// onPane is a method of one pane, which its params name.
func onPane(f func(ctx context.Context, s *reader, at *pane, p params) (any, error)) row {
	return func(ctx context.Context, s *reader, p params) (any, error) {
		at, err := s.pane(p)
		if err != nil {
			return nil, err
		}
		return f(ctx, s, at, p)
	}
}

// rows are all methods except auth.login, which is the connection's.
var rows map[string]row

// Set by init: selftest.run calls rows itself.
func init() {
	rows = map[string]row{
		"session.list":                   listPanes,
		"session.get":                    onPane(getPane),
		"session.status":                 onPane(getPane),
		"session.create":                 createPane,
		"session.input":                  onPane(inputPane),
		"session.send_text":              onPane(sendText),
		"session.read_tail":              onPane(readTail),
		"session.resize":                 onPane(resizePane),
		"session.destroy":                onPane(destroyPane),
		"session.idle":                   onPane(idlePane),
		"session.cwd":                    onPane(cwdPane),
		"session.env":                    envPane,
		"session.set_env":                setEnvPane,
		"session.history":                onPane(historyPane),
		"session.audit_log":              auditLog,
		"session.recording_start":        onPane(recordingStart),
		"session.recording_stop":         recordingStop,
		"session.recording_status":       recordingStatus,
		"session.recording_list":         recordingList,
		"session.recording_read":         recordingRead,
		"session.recording_attach_trace": recordingAttachTrace,
		"session.export_markdown":        onPane(exportMarkdown),

		"exec.run":      onPane(execRun),
		"exec.send":     onPane(inputPane),
		"exec.run_wait": onPane(execRunWait),
		"exec.status":   onPane(execStatus),
		"exec.cancel":   onPane(execCancel),
		"signal.send":   onPane(signalSend),

		"screen.read":          onPane(readScreen),
		"screen.text":          onPane(textScreen),
		"screen.cursor":        onPane(cursorScreen),
		"screen.scroll":        onPane(scrollScreen),
		"screen.search":        onPane(searchScreen),
		"screen.detect_errors": onPane(detectErrors),

		"orchestrate.launch":    launch,
		"orchestrate.broadcast": broadcast,
		"orchestrate.wait":      onPane(waitPane),

		"capture.screen":    captureScreen,
		"capture.window":    captureWindow,
		"capture.select":    captureSelect,
		"capture.clipboard": captureClipboard,

		"proxy.status":    proxyStatus,
		"proxy.nodes":     proxyNodes,
		"proxy.switch":    proxySwitch,
		"proxy.speedtest": proxySpeedtest,
		"proxy.configure": proxyConfigure,
		"proxy.disable":   proxyDisable,
		"proxy.env":       proxyEnv,

		"workspace.save":    workspaceSave,
		"workspace.restore": workspaceRestore,
		"workspace.list":    workspaceList,

		"policy.set":   policySet,
		"policy.check": policyCheck,

		"instance.list":      instanceList,
		"instance.info":      instanceInfo,
		"instance.set_title": instanceSetTitle,
		"instance.focus":     instanceFocus,

		"server.info":         serverInfo,
		"server.health":       serverHealth,
		"server.capabilities": serverCapabilities,
		"system.info":         systemInfo,
		"system.launch_admin": launchAdmin,
		"selftest.run":        selftest,
	}
}

// unlisted are methods that Unterm's own list of capabilities leaves out, and those that Unterm
// does not have.
var unlisted = []string{
	"session.get", "session.env", "session.set_env", "orchestrate.launch", "orchestrate.broadcast",
	"orchestrate.wait", "session.send_text", "session.read_tail",
}

// governance are the methods that Unterm lists together.
var governance = []string{"policy.set", "policy.check", "server.info", "server.health",
	"server.capabilities", "selftest.run"}

// capabilities lists the methods as Unterm does, by name spaces.
func capabilities() map[string][]string {
	all := map[string][]string{"governance": governance}
	for name := range rows {
		space, _, _ := strings.Cut(name, ".")
		if space == "signal" {
			space = "exec"
		}
		if !slices.Contains(unlisted, name) && !slices.Contains(governance, name) {
			all[space] = append(all[space], name)
		}
	}
	for _, names := range all {
		slices.Sort(names)
	}
	return all
}

func serverCapabilities(context.Context, *reader, params) (any, error) {
	return capabilities(), nil
}

// decode reads a member that Unterm does not have; another type is an error.
func decode(v jsontext.Value, into any) error { return json.Unmarshal(v, into, lenient) }
