package unterm

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ptywright/ptywright/protocol"
)

// A row is a method.
type row struct {
	needs protocol.Rights // what a client must have
	call  call
}

// A call is what a method does. It may block, which delays only its own connection.
type call func(ctx context.Context, s *reader, p params) (any, error)

// forRead, forType and forAdmin are rows by what a client must have: to look, to use what runs, and
// to start or end something or to write a file.
func forRead(f call) row  { return row{protocol.RightRead, f} }
func forType(f call) row  { return row{protocol.RightType, f} }
func forAdmin(f call) row { return row{protocol.RightAdmin, f} }

// onPane is a method of one pane, which its params name.
func onPane(f func(ctx context.Context, s *reader, at *pane, p params) (any, error)) call {
	return func(ctx context.Context, s *reader, p params) (any, error) {
		at, err := s.pane(p)
		if err != nil {
			return nil, err
		}
		if act := protocol.ActOf(ctx); act != nil {
			act.Session, act.Name = string(at.session.ID()), at.session.Config().Name
		}
		return f(ctx, s, at, p)
	}
}

// rows are all methods except auth.login, which is the connection's.
var rows map[string]row

// Set by init: selftest.run calls rows itself.
func init() {
	rows = map[string]row{
		"session.list":                   forRead(listPanes),
		"session.get":                    forRead(onPane(getPane)),
		"session.status":                 forRead(onPane(getPane)),
		"session.create":                 forAdmin(createPane),
		"session.input":                  forType(onPane(inputPane)),
		"session.send_text":              forType(onPane(sendText)),
		"session.read_tail":              forRead(onPane(readTail)),
		"session.resize":                 forType(onPane(resizePane)),
		"session.destroy":                forAdmin(onPane(destroyPane)),
		"session.idle":                   forRead(onPane(idlePane)),
		"session.cwd":                    forRead(onPane(cwdPane)),
		"session.env":                    forRead(envPane),
		"session.set_env":                forType(setEnvPane),
		"session.history":                forRead(onPane(historyPane)),
		"session.audit_log":              forRead(auditLog),
		"session.recording_start":        forAdmin(onPane(recordingStart)),
		"session.recording_stop":         forAdmin(recordingStop),
		"session.recording_status":       forRead(recordingStatus),
		"session.recording_list":         forRead(recordingList),
		"session.recording_read":         forRead(recordingRead),
		"session.recording_attach_trace": forAdmin(recordingAttachTrace),
		"session.export_markdown":        forAdmin(onPane(exportMarkdown)),

		"exec.run":      forType(onPane(execRun)),
		"exec.send":     forType(onPane(inputPane)),
		"exec.run_wait": forType(onPane(execRunWait)),
		"exec.status":   forRead(onPane(execStatus)),
		"exec.cancel":   forType(onPane(execCancel)),
		"signal.send":   forType(onPane(signalSend)),

		"screen.read":          forRead(onPane(readScreen)),
		"screen.text":          forRead(onPane(textScreen)),
		"screen.cursor":        forRead(onPane(cursorScreen)),
		"screen.scroll":        forRead(onPane(scrollScreen)),
		"screen.search":        forRead(onPane(searchScreen)),
		"screen.detect_errors": forRead(onPane(detectErrors)),

		"orchestrate.launch":    forAdmin(launch),
		"orchestrate.broadcast": forType(broadcast),
		"orchestrate.wait":      forRead(onPane(waitPane)),

		"capture.screen":    forAdmin(captureScreen),
		"capture.window":    forAdmin(captureWindow),
		"capture.select":    forAdmin(captureSelect),
		"capture.clipboard": forRead(captureClipboard),

		"proxy.status":    forRead(proxyStatus),
		"proxy.nodes":     forRead(proxyNodes),
		"proxy.switch":    forAdmin(proxySwitch),
		"proxy.speedtest": forAdmin(proxySpeedtest),
		"proxy.configure": forAdmin(proxyConfigure),
		"proxy.disable":   forAdmin(proxyDisable),
		"proxy.env":       forRead(proxyEnv),

		"workspace.save":    forAdmin(workspaceSave),
		"workspace.restore": forAdmin(workspaceRestore),
		"workspace.list":    forRead(workspaceList),

		"policy.set":   forAdmin(policySet),
		"policy.check": forRead(policyCheck),

		"instance.list":      forRead(instanceList),
		"instance.info":      forRead(instanceInfo),
		"instance.set_title": forAdmin(instanceSetTitle),
		"instance.focus":     forAdmin(instanceFocus),

		"server.info":         forRead(serverInfo),
		"server.health":       forRead(serverHealth),
		"server.capabilities": forRead(serverCapabilities),
		"system.info":         forRead(systemInfo),
		"system.launch_admin": forAdmin(launchAdmin),
		"selftest.run":        forAdmin(selftest),
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
