package redact

import (
	"errors"
	"fmt"
	"testing"
)

// environment is one of so many secrets.
func environment(from, to int) map[string]string {
	env := map[string]string{}
	for i := from; i < to; i++ {
		env[fmt.Sprintf("SERVICE_%d_TOKEN", i)] = fmt.Sprintf("kj3Hf92lsPq0%dxYz", i)
	}
	return env
}

// TestOneEnvironmentOfManySessions: sessions that are started from one shell have the same secrets,
// which count once, however many sessions there are and were; and what was kept of those that are
// over is bounded.
func TestOneEnvironmentOfManySessions(t *testing.T) {
	const live, over = 500, 1500
	k := new(Known)
	env := environment(0, 40)
	open := make(chan struct{})
	for i := range live { // 20,000 values, which is over the bound of all sessions
		settle, err := k.Lend(env)
		if err != nil {
			t.Fatal(err)
		}
		settle(fmt.Sprint("s", i), open)
	}
	if n := k.Len(); n != 40 {
		t.Errorf("%d values", n)
	}
	for i := range over {
		settle, err := k.Lend(env)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		settle(fmt.Sprint("e", i), ended)
		close(ended)
	}
	if n := len(k.owners); n > 2*(live+maxOver)+maxOver {
		t.Errorf("%d sessions are kept, of which 500 live", n)
	}
	for _, v := range k.values {
		if n := len(*v.held.Load()); n > 2*(live+maxOver)+maxOver {
			t.Fatalf("%d reasons why a value is known", n)
		}
	}
	// Values that are others still count.
	for i := range maxEnvs/MaxEnv - 1 {
		settle, err := k.Lend(environment(100+i*MaxEnv, 100+(i+1)*MaxEnv))
		if err != nil {
			t.Fatal(err)
		}
		settle(fmt.Sprint("m", i), open)
	}
	var many *EnvLimitError
	if _, err := k.Lend(environment(1<<20, 1<<20+MaxEnv)); !errors.As(err, &many) || !many.All || many.Count != maxEnvs+40 {
		t.Errorf("%v", err)
	}
	if _, err := k.Lend(env); err != nil {
		t.Errorf("what is known already: %v", err)
	}
}

// TestEverybodysEnvironment: what the server has itself is not noted again for each session.
func TestEverybodysEnvironment(t *testing.T) {
	k := new(Known)
	k.AddEnv([]string{"API_TOKEN=kj3Hf92lsPq0xYz"})
	for i := range 3 {
		settle, err := k.Lend(map[string]string{"API_TOKEN": "kj3Hf92lsPq0xYz", "HOME": "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		settle(fmt.Sprint("s", i), make(chan struct{}))
	}
	if len(k.owners) != 0 {
		t.Errorf("%d sessions are noted", len(k.owners))
	}
	if got := Default.With(k).For("s9").String("it is kj3Hf92lsPq0xYz"); got != "it is [REDACTED]" {
		t.Error(got)
	}
}

// TestOrdinaryVariablesAreNoSecrets: of what every shell has nothing is hidden by its name.
func TestOrdinaryVariablesAreNoSecrets(t *testing.T) {
	for _, name := range []string{
		"PATH", "PWD", "OLDPWD", "HOME", "USER", "SHELL", "SHLVL", "LANG", "LS_COLORS", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_CONNECTION", "GPG_AGENT_INFO",
		"GPG_TTY", "XAUTHORITY", "SESSION_MANAGER", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY",
		"VIRTUAL_ENV", "CONDA_PREFIX", "GOPATH", "JAVA_HOME", "MANPATH", "LESS", "PAGER", "EDITOR", "MAIL", "KUBECONFIG", "AWS_PROFILE", "_",
	} {
		if SecretName(name) {
			t.Errorf("%s", name)
		}
	}
}
