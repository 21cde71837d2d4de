package redact

import (
	"fmt"
	"strings"
	"testing"
)

// environments are files of variables as `cat` prints them, by what is shown of each: every name
// and no value.
func environments(t testing.TB) map[string]record {
	d := newDice(37)
	names := strings.Fields("GITHUB_TOKEN STRIPE_SECRET_KEY SESSION_SECRET DB_PASSWORD API_KEY " +
		"AWS_SECRET_ACCESS_KEY SMTP_PASS SENTRY_AUTH_TOKEN JWT_SECRET SLACK_BOT_TOKEN NPM_TOKEN")
	kinds := strings.Fields("ghp stripe hex.64 b62.40 b62.120 glpat skant pw pws word word2")
	all := map[string]record{}
	for _, form := range []string{
		"%s=%s", "export %s=%s", "%s: %s", `%s="%s"`, "%s='%s'", `  %s: "%s"`, "%s = %s", `  "%s": "%s",`,
	} {
		for range 50 {
			var in, shown strings.Builder
			for range 2 + d.IntN(6) {
				name := names[d.IntN(len(names))]
				fmt.Fprintf(&in, form+"\r\n", name, d.value(t, kinds[d.IntN(len(kinds))]))
				fmt.Fprintf(&shown, form+"\r\n", name, DefaultReplacement)
			}
			all[shown.String()] = record{Text: in.String()}
		}
	}
	return all
}

// A value hides none of the lines below it: each has its name still.
func TestNamesStay(t *testing.T) {
	for want, r := range environments(t) {
		for _, surface := range surfaces[:4] { // not with a pause behind each
			if got := surface.show(r); got != want {
				t.Errorf("%s:\n%q becomes\n%q", surface.name, r.Text, got)
			}
		}
	}
}
