//go:build unix

package script_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/tuitest/script"
)

// TestSecretAcrossTheCut: the end of what a command printed is kept, and what it begins with may be the
// end of a secret.
func TestSecretAcrossTheCut(t *testing.T) {
	t.Parallel()
	for _, size := range []string{"65520", "131060", "262130", "400000"} {
		s := parse(t, `env "API_TOKEN=envSECRETvalue-correct-horse-99"
exec sh -c 'printf "%s" "$API_TOKEN"; head -c `+size+` /dev/zero | tr "\0" x; exit 3'
`)
		r, _ := play(t, s, script.Options{})
		if f := failure(t, r); f.Reason != "exec" || !strings.Contains(f.Evidence, "xxx") || strings.Contains(f.Evidence, "horse") {
			t.Errorf("%s: %s: %.200s", size, f.Reason, f.Evidence)
		}
	}
}

// TestSecretsOfLaterSteps: what a script sets is hidden from its first step on, blanks and all.
func TestSecretsOfLaterSteps(t *testing.T) {
	t.Parallel()
	const early, blanks = "LATEsecretVALUE-1234", "envSECRETvalue correct horse 99"
	s := parse(t, `spawn sh -c 'echo "first `+early+`"; read -r _'
expect 'first'
env "DB_PASSWORD=`+early+`" "API_TOKEN=`+blanks+`"
expect 'never' within 1ms
`)
	r, _ := play(t, s, script.Options{Dir: t.TempDir()})
	failure(t, r)
	said, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cast, err := os.ReadFile(r.Recording)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{early, "horse"} {
		if strings.Contains(string(said), secret) || strings.Contains(string(cast), secret) {
			t.Errorf("%s is left:\n%s\n%s", secret, said, cast)
		}
	}
}
