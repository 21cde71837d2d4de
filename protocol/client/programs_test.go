//go:build linux

package client_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

// A drive is what is done with one program.
type drive struct {
	program, debian string
	config          func(t *testing.T) client.Config
	do              func(d *driver)
}

// A driver fails its test at the first error, with the evidence.
type driver struct {
	*client.Session
	t   *testing.T
	ctx context.Context
}

func (d *driver) send(text string)     { d.t.Helper(); check(d.t, d.Send(d.ctx, text)) }
func (d *driver) press(keys ...string) { d.t.Helper(); check(d.t, d.Press(d.ctx, keys...)) }
func (d *driver) wait(m client.Matcher) *client.Match {
	d.t.Helper()
	return must[*client.Match](d.t)(d.Wait(d.ctx, m, client.Within(hang)))
}
func (d *driver) expect(m client.Matcher) *client.Match {
	d.t.Helper()
	return must[*client.Match](d.t)(d.Expect(d.ctx, m, client.Within(hang)))
}
func (d *driver) exits(want string) {
	d.t.Helper()
	if got := d.wait(client.Exited()).Screen.Exit.String(); got != want {
		d.t.Errorf("it ended with %s, not %s", got, want)
	}
}

func command(program string, args ...string) func(*testing.T) client.Config {
	return func(*testing.T) client.Config {
		return client.Config{Program: program, Args: args, Env: map[string]string{"PS1": "$ ", "INPUTRC": "/dev/null"}}
	}
}

// file is a new file with a text.
func file(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "file.txt")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

var drives = map[string]drive{
	"bash": {"bash", "bash", command("bash", "--norc", "--noprofile"), func(d *driver) {
		d.expect(client.Regexp(`\$$`))
		d.send("echo $((6*7)); false\n")
		d.wait(client.Regexp(`(?m)^42$`))
		d.wait(client.Regexp(`\$$`))
		d.send("exit $?\n")
		d.exits("exit 1")
	}},
	"python": {"python3", "python3", command("python3", "-q"), func(d *driver) {
		d.expect(client.Regexp(`>>>$`))
		d.send("print(6 * 7)\n")
		d.wait(client.Regexp(`(?m)^42$`))
		d.send("1/0\n")
		d.wait(client.Text("ZeroDivisionError"))
		d.press("ctrl+d")
		d.exits("exit 0")
	}},
	"node": {"node", "nodejs", command("node", "--interactive"), func(d *driver) {
		d.expect(client.Regexp(`(?m)^>$`))
		d.send("[1, 2, 3].map(n => 14 * n)\n")
		d.wait(client.Text("[ 14, 28, 42 ]"))
		d.wait(client.Regexp(`(?m)^>$`))
		d.send(".exit\n")
		d.exits("exit 0")
	}},
	"vim": {"vim", "vim", func(t *testing.T) client.Config { return command("vim", "-u", "NONE", "-n", file(t, "one\n"))(t) }, func(d *driver) {
		d.expect(client.Regexp(`(?m)^one$`))
		d.send("otwo")
		d.wait(client.Text("two"))
		d.press("escape")
		d.send(":wq\n")
		d.exits("exit 0")
	}},
	"less": {"less", "less", func(t *testing.T) client.Config {
		var b strings.Builder
		for i := range 500 {
			fmt.Fprintf(&b, "line %d.\n", i)
		}
		return command("less", file(t, b.String()))(t)
	}, func(d *driver) {
		d.expect(client.Text("line 0."))
		d.send("/line 321\n")
		d.wait(client.Regexp(`\Aline 321\.`))
		d.send("G")
		d.wait(client.Text("line 499."))
		d.send("q")
		d.exits("exit 0")
	}},
	"fzf": {"fzf", "fzf", command("sh", "-c", "printf '%s\\n' apple banana cherry | fzf"), func(d *driver) {
		d.expect(client.Regexp(`3/3`))
		d.send("ban")
		d.wait(client.Regexp(`1/3`))
		d.press("enter")
		d.wait(client.Regexp(`(?m)^banana$`))
		d.exits("exit 0")
	}},
	"htop": {"htop", "htop", command("htop"), func(d *driver) {
		d.expect(client.Regexp(`F10\s*Quit`))
		d.press("f1")
		d.wait(client.Text("Process state:"))
		d.press("space")
		d.wait(client.Regexp(`F10\s*Quit`))
		d.press("f10")
		d.exits("exit 0")
	}},
	"sqlite3": {"sqlite3", "sqlite3", command("sqlite3", "-interactive", ":memory:"), func(d *driver) {
		d.expect(client.Regexp(`sqlite>$`))
		d.send("create table t(n); insert into t values (40), (2);\n")
		d.wait(client.Regexp(`sqlite>$`))
		d.send("select sum(n) from t;\n")
		d.wait(client.Regexp(`(?m)^42$`))
		d.send(".quit\n")
		d.exits("exit 0")
	}},
	"gdb": {"gdb", "gdb", command("gdb", "-q", "-nx"), func(d *driver) {
		d.expect(client.Regexp(`\(gdb\)$`))
		d.send("print 6*7\n")
		d.wait(client.Regexp(`\$1 = 42`))
		d.send("quit\n")
		d.exits("exit 0")
	}},
	"ssh": {"sshd", "openssh-server", overSSH, func(d *driver) {
		d.expect(client.Regexp(`far\$$`))
		d.send("echo $((6*7)) on $SSH_TTY\n")
		d.wait(client.Regexp(`(?m)^42 on /dev/`))
		d.wait(client.Regexp(`far\$$`))
		d.send("exit 5\n")
		d.exits("exit 5")
	}},
}

// overSSH is a shell at the other end of a server of the loopback, which ends with the test.
func overSSH(t *testing.T) client.Config {
	t.Helper()
	// sshd does not start without, and its service makes it
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Skipf("sshd cannot run: %v", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"host", "user"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput()
		if err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd = "/usr/sbin/sshd"
	}
	key := filepath.Join(dir, "user")
	// sshd -i speaks on its standard streams: no port, and nothing that outlives the connection.
	// no dot files of whoever runs the tests
	proxy := fmt.Sprintf("%s -i -f /dev/null -o HostKey=%s/host -o AuthorizedKeysFile=%s.pub -o StrictModes=no -o UsePAM=no -o PidFile=none -o SetEnv=HOME=%s", sshd, dir, key, dir)
	return client.Config{Program: "ssh", Env: map[string]string{"SHELL": "/bin/sh"}, Args: []string{
		"-F", "/dev/null", "-tt", "-i", key, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
		"-o", "ProxyCommand=" + proxy, "loopback", "PS1='far$ ' exec sh",
	}}
}

// TestPrograms drives ten programs beside busy loops, again and again with PTYWRIGHT_LONG=1: none
// may fail, and nothing is tried twice.
func TestPrograms(t *testing.T) {
	repeats := 1
	if os.Getenv("PTYWRIGHT_LONG") == "1" {
		repeats = 50
	}
	c := started(t)
	stop := make(chan struct{})
	defer close(stop)
	for range runtime.NumCPU() {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
	}
	for name, d := range drives {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(d.program); err != nil {
				if _, err := os.Stat("/usr/sbin/" + d.program); err != nil {
					t.Skipf("%s is not installed: apt-get install %s", d.program, d.debian)
				}
			}
			for range repeats {
				ctx, cancel := context.WithTimeout(t.Context(), 3*hang)
				s := spawned(t, c, d.config(t))
				d.do(&driver{s, t, ctx})
				check(t, s.Close(ctx))
				cancel()
			}
		})
	}
}
