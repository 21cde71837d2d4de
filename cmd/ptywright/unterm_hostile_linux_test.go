package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestUntermSeesThroughAnotherProcess that was written into a record with its own start: it does
// not listen there.
func TestUntermSeesThroughAnotherProcess(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	line := "sleep 1000." + strconv.Itoa(os.Getpid()) // no other test's
	pane := c.bare("exec " + line)
	pid := 0
	for pid == 0 || !strings.Contains(c.call("session.get", map[string]any{"id": pane})["shell"].(map[string]any)["process_name"].(string), "sleep") {
		pid = foregroundOf(t, c, pane, line)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	forged := map[string]any{}
	for k, v := range s.record {
		forged[k] = v
	}
	forged["id"], forged["pid"] = "kilo", pid
	forged["pid_started"] = strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))[19] // starttime: proc_pid_stat(5)
	b, err := json.Marshal(forged)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.root, "instances", "kilo.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if list := c.call("instance.list", nil)["instances"].([]any); len(list) != 1 {
		t.Errorf("listed: %v", list)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it is still there")
	}
}

// foregroundOf finds the process of a pane by its command line in /proc; 0 when it is not there yet.
func foregroundOf(t *testing.T, c *untermClient, pane any, line string) int {
	t.Helper()
	c.call("session.get", map[string]any{"id": pane})
	all, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, path := range all {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		args, _ := os.ReadFile(filepath.Dir(path) + "/cmdline")
		if strings.ReplaceAll(string(args), "\x00", " ") == line+" " {
			return pid
		}
	}
	return 0
}

// TestUntermAnswersWhateverStandsInTheWay: pipes and links where files have to be.
func TestUntermAnswersWhateverStandsInTheWay(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	elsewhere := t.TempDir()
	for _, name := range []string{"workspaces/pipe.json", "sessions/index.json", "proxy.json", "recording.json"} {
		path := filepath.Join(s.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := mkfifo(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(s.root, "screenshots")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		method string
		params map[string]any
	}{
		{"workspace.restore", map[string]any{"name": "pipe"}}, {"workspace.list", nil}, {"session.recording_list", nil}, {"session.recording_start", at()},
		{"session.recording_stop", at()}, {"proxy.status", nil}, {"proxy.configure", map[string]any{"mode": "manual"}}, {"capture.window", nil}, {"selftest.run", nil},
	} {
		c.ask(step.method, step.params)
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Errorf("written through a link: %v", left)
	}
}

// TestUntermTellsWhatWasNotRun as an error.
func TestUntermTellsWhatWasNotRun(t *testing.T) {
	t.Parallel()
	s := startUnterm(t)
	c := s.client(t)
	c.call("exec.run_wait", at("command", "set -H"))
	if r := c.ask("exec.run_wait", at("command", `touch F; echo "deploy!now"`)); r["error"] == nil && r["result"].(map[string]any)["exit_code"] == nil {
		t.Errorf("a history event that there is not: %v", r)
	}
	if r := c.call("exec.run_wait", at("command", "# nothing")); r["exit_status"] != "completed" {
		t.Errorf("a comment: %v", r)
	}
	if r := c.call("exec.run_wait", at("command", "echo on")); r["output"] != "on\n" {
		t.Errorf("what comes next: %v", r)
	}
}
