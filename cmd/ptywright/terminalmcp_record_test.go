//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

func testTerminalRecording(t *testing.T) {
	s := headless(t)
	var r recordingText
	text := s.decode(&r, "startRecording", nil)
	dir := filepath.Join(s.home, ".local", "state", "terminal-mcp", "recordings")
	if !regexp.MustCompile(`^`+regexp.QuoteMeta(dir)+`/terminal-\d{13}-[0-9a-f]{16}\.cast$`).MatchString(r.Path) || !strings.Contains(r.Path, r.RecordingID) {
		t.Errorf("the file is %s", r.Path)
	}
	if want := "{\n  \"recordingId\": \"" + r.RecordingID + "\",\n  \"path\": \"" + r.Path + "\",\n  \"format\": \"v2\",\n  \"mode\": \"always\",\n  \"maxDuration\": 3600,\n" +
		"  \"inactivityTimeout\": 600,\n  \"message\": \"Recording will auto-stop after 60 minutes or 10 minutes of inactivity\"\n}"; text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	s.refused("{\n  \"error\": \"A recording is already in progress\",\n  \"activeRecordingId\": \""+r.RecordingID+"\",\n  \"activePath\": \""+r.Path+"\"\n}", "startRecording", nil)
	s.enter("echo recorded")
	s.until(`(?m)^recorded$`, "")
	var e recordingText
	text = s.decode(&e, "stopRecording", args{"recordingId": r.RecordingID})
	if !e.Saved || e.StopReason != "explicit" || e.Path != r.Path || e.Mode != "always" || !strings.HasPrefix(text, "{\n  \"recordingId\": \""+r.RecordingID+"\",\n  \"path\"") {
		t.Errorf("%s", text)
	}
	s.refused("Error: Recording not found: "+r.RecordingID, "stopRecording", args{"recordingId": r.RecordingID})
	m := readMeta(t, r.Path)
	info, err := os.Stat(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	if m.ExitCode == nil || *m.ExitCode != 0 || m.StopReason != "explicit" || m.BytesWritten != info.Size() || e.BytesWritten != info.Size() ||
		m.EndTime-m.StartTime != m.DurationMs || e.DurationMs != m.DurationMs || info.Mode().Perm() != 0o600 {
		t.Errorf("%+v, %+v, %v", m, e, info.Mode())
	}
	for _, c := range []struct {
		a       args
		message string
	}{
		{args{"maxDuration": 60, "inactivityTimeout": 0}, "Recording will auto-stop after 1 minute"},
		{args{"maxDuration": 0, "inactivityTimeout": 119}, "Recording will auto-stop after 1 minute of inactivity"},
		{args{"maxDuration": 0, "inactivityTimeout": 0}, ""},
		{args{"maxDuration": 1e300, "inactivityTimeout": 59.5, "outputDir": filepath.Join(s.home, "a", "b")}, "Recording will auto-stop after"},
	} {
		var r recordingText
		text := s.decode(&r, "startRecording", c.a)
		if !strings.HasPrefix(r.Message, c.message) || (c.message == "") != !strings.Contains(text, `"message"`) {
			t.Errorf("%v: %s", c.a, text)
		}
		s.text("stopRecording", args{"recordingId": r.RecordingID})
	}
	for variable, dir := range map[string]string{"TERMINAL_MCP_RECORD_DIR": "there", "XDG_STATE_HOME": "there/terminal-mcp/recordings"} {
		home := t.TempDir()
		p := asTerminalMCP(t, home, "--headless")
		p.Env = append(p.Env, variable+"="+filepath.Join(home, "there"))
		o := startTerminal(t, p, home)
		var r recordingText
		o.decode(&r, "startRecording", nil)
		if want := filepath.Join(home, dir); filepath.Dir(r.Path) != want {
			t.Errorf("with %s the file is %s, want it in %s", variable, r.Path, want)
		}
		o.end(0)
	}
	if err := os.WriteFile(filepath.Join(s.home, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := s.tool("startRecording", args{"outputDir": filepath.Join(s.home, "file")}); r.failed() != "true" || !strings.HasPrefix(r.Content[0].Text, "Error: ") {
		t.Errorf("a file as folder: %q", r.Content[0].Text)
	}
	s.text("startRecording", nil) // what failed before is not under way
}

func testTerminalAutoStop(t *testing.T) {
	s := headless(t)
	for reason, limits := range map[string]args{
		"max_duration": {"maxDuration": 0.2}, "inactivity": {"inactivityTimeout": 0.2},
	} {
		var r recordingText
		s.decode(&r, "startRecording", limits)
		if !strings.Contains(r.Message, "0 minutes") {
			t.Errorf("%q", r.Message)
		}
		awaitFile(t, strings.TrimSuffix(r.Path, ".cast")+".meta.json")
		if m := readMeta(t, r.Path); m.ExitCode != nil || m.StopReason != reason {
			t.Errorf("%+v, want %s", m, reason)
		}
		s.refused("Error: Recording already finalized: "+r.RecordingID, "stopRecording", args{"recordingId": r.RecordingID})
		s.refused("Error: Recording already finalized: "+r.RecordingID, "stopRecording", args{"recordingId": r.RecordingID})
	}
}

// awaitFile waits until there is a file.
func awaitFile(t testing.TB, path string) {
	t.Helper()
	poll(t, func() string {
		_, err := os.Stat(path)
		return unless(err == nil, fmt.Sprint(err))
	})
}

func testTerminalOnFailure(t *testing.T) {
	for _, c := range []struct {
		exit  string
		saved bool
	}{{"exit 0", false}, {"exit 3", true}} {
		s := headless(t)
		var r recordingText
		s.decode(&r, "startRecording", args{"mode": "on-failure"})
		if r.Mode != "on-failure" {
			t.Errorf("%+v", r)
		}
		s.enter(c.exit)
		poll(t, func() string {
			ended := s.tool("stopRecording", args{"recordingId": "?"}).Content[0].Text != "" && s.tool("getContent", nil).failed() != ""
			return unless(ended, "the session does not end")
		})
		if c.saved {
			awaitFile(t, strings.TrimSuffix(r.Path, ".cast")+".meta.json")
			if m := readMeta(t, r.Path); m.ExitCode == nil || *m.ExitCode != 3 || m.StopReason != "session_exit" {
				t.Errorf("%+v", m)
			}
		}
		s.refused("Error: Recording already finalized: "+r.RecordingID, "stopRecording", args{"recordingId": r.RecordingID})
		if _, err := os.Stat(r.Path); (err == nil) != c.saved {
			t.Errorf("after %q: %v", c.exit, err)
		}
	}
	s := headless(t)
	var r, e recordingText
	s.decode(&r, "startRecording", args{"mode": "on-failure"})
	text := s.decode(&e, "stopRecording", args{"recordingId": r.RecordingID})
	if e.Saved || e.Path != "" || e.StopReason != "explicit" || !strings.Contains(text, `"path": ""`) {
		t.Errorf("%s", text)
	}
	left, err := os.ReadDir(filepath.Dir(r.Path))
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v is left", left, err)
	}
}

func testTerminalCast(t *testing.T) {
	s := headless(t)
	s.until(`\$`, "")
	var r recordingText
	s.decode(&r, "startRecording", args{"idleTimeLimit": 0.05})
	s.enter("printf one; sleep 0.6; printf '%s' 'two 日😀'")
	s.until(`onetwo 日😀\$`, "")
	var e recordingText
	s.decode(&e, "stopRecording", args{"recordingId": r.RecordingID})
	b, err := os.ReadFile(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if !regexp.MustCompile(`^\{"version":2,"width":80,"height":10,"timestamp":\d{10},"env":\{"TERM":"xterm-256color"\}\}$`).MatchString(lines[0]) {
		t.Errorf("the header is %s", lines[0])
	}
	last, output := 0.0, ""
	for _, line := range lines[1:] {
		var event []any
		if err := json.Unmarshal([]byte(line), &event); err != nil || len(event) != 3 || event[1] != "o" {
			t.Fatalf("%v: %s", err, line)
		}
		at := event[0].(float64)
		if at < last {
			t.Errorf("time goes back from %v to %v", last, at)
		}
		if output != "" && at-last > 0.0501 {
			t.Errorf("a pause of %v is in the file", at-last)
		}
		last = at
		output += event[2].(string)
	}
	if !strings.Contains(output, "onetwo 日😀") || int64(len(b)) != e.BytesWritten {
		t.Errorf("%d bytes, told are %d: %q", len(b), e.BytesWritten, output)
	}
	if e.DurationMs < 600 {
		t.Errorf("it took %d ms", e.DurationMs)
	}
}

// TestTerminalMCPSignalled: a signal to end completes the recording, ends the shell and what it
// started, and is no failure.
func TestTerminalMCPSignalled(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt, syscall.SIGHUP} {
		s := headless(t)
		s.enter("sleep 1000 &")
		var r recordingText
		s.decode(&r, "startRecording", nil)
		s.enter("echo hi")
		s.until(`(?m)^hi$`, "")
		if err := s.p.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		s.end(0)
		if m := readMeta(t, r.Path); m.ExitCode != nil || m.StopReason != "server_shutdown" || m.BytesWritten <= 92 {
			t.Errorf("%v: %+v", sig, m)
		}
	}
}
