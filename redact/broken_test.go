package redact

import (
	"encoding/base64"
	"strings"
	"testing"
)

// broken are secrets of many kinds, as they stand in a line.
func broken(d dice) map[string][2]string {
	ghp, b40, b32 := "ghp_"+d.of(36, base62), d.of(40, base62), "aB3x"+d.of(28, base62)
	jwt := "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIi" + d.of(40, base62) + "." + d.of(43, base62)
	b64 := base64.StdEncoding.EncodeToString([]byte(d.of(45, base62)))
	return map[string][2]string{
		"github":        {"%", ghp},
		"github fine":   {"%", "github_pat_" + d.of(22, base62) + "_" + d.of(59, base62)},
		"gitlab":        {"%", "glpat-" + d.of(20, base62)},
		"npm":           {"%", "npm_" + d.of(36, base62)},
		"pypi":          {"%", "pypi-AgEI" + d.of(70, base62)},
		"slack":         {"%", "xoxb-" + d.of(12, "0123456789") + "-" + d.of(24, base62)},
		"stripe":        {"%", "sk_live_" + d.of(24, base62)},
		"openai":        {"%", "sk-proj-" + d.of(60, base62)},
		"anthropic":     {"%", "sk-ant-" + "api03-" + d.of(90, base62)},
		"huggingface":   {"%", "hf_" + d.of(34, base62)},
		"google":        {"%", "AIza" + d.of(35, base62)},
		"sendgrid":      {"%", "SG." + d.of(22, base62) + "." + d.of(43, base62)},
		"digitalocean":  {"%", "dop_v1_" + d.of(64, hexes)},
		"vault":         {"%", "hvs." + d.of(90, base62)},
		"e2b":           {"%", "e2b_" + d.of(40, hexes)},
		"jwt":           {"%", jwt},
		"aws secret":    {"aws_secret_access_key = %", b40},
		"env password":  {"DB_PASSWORD=%", b32},
		"yaml":          {"api_key: %", b40},
		"json":          {`"client_secret": "%"`, b40},
		"bearer":        {"Authorization: Bearer %", b40},
		"flag":          {"tool --token %", b40},
		"hexadecimal":   {"DD_API_KEY=%", d.of(32, hexes)},
		"base64":        {"secret: %", b64},
		"url":           {"postgres://app:%@db.example.invalid/app", b32},
		"quoted string": {`password = "%"`, b32},
	}
}

// A secret that people or programs break over lines is hidden in all of them: behind a backslash,
// indented, and cut at the edge.
func TestBrokenOverLines(t *testing.T) {
	const pad = "the quick brown fox jumps over the lazy dog and then it runs back again "
	d := newDice(23)
	for round := range 4 {
		for name, form := range broken(d) {
			secret := form[1]
			bare := secret[strings.LastIndexAny(secret[:12], "_-.")+1:] // what goes before is the provider's
			before, after, _ := strings.Cut(form[0], "%")
			third := len(secret) / 3
			for how, text := range map[string]string{
				"backslash":           "$ " + before + secret[:third*2] + "\\\n" + secret[third*2:] + after,
				"backslash, early":    before + secret[:third+4] + "\\\n" + secret[third+4:] + after,
				"backslashes":         before + secret[:third+2] + "\\\n" + secret[third+2:third*2+2] + "\\\n" + secret[third*2+2:] + after,
				"backslash, indented": before + secret[:third*2] + "\\\n    " + secret[third*2:] + after,
				"indented":            before + secret[:len(secret)/2] + "\n    " + secret[len(secret)/2:] + after,
				"all indented":        "    " + before + secret[:len(secret)/2] + "\n    " + secret[len(secret)/2:] + after,
				"over three":          "  " + before + secret[:third+2] + "\n    " + secret[third+2:third*2+2] + "\n    " + secret[third*2+2:] + after,
				"edge of 80":          cutAt(80, pad, before, secret, after, 14),
				"edge of 80, late":    cutAt(80, pad, before, secret, after, len(secret)-8),
				"edge of 120":         cutAt(120, pad+pad, before, secret, after, len(secret)/2),
			} {
				for _, surface := range surfaces[:4] {
					text := text + "\nordinary text behind it\n"
					got := surface.show(record{Text: strings.ReplaceAll(text, "\n", "\r\n")})
					if leaks(got, bare) {
						t.Errorf("round %d, %s, %s, %s:\n%q becomes\n%q", round, name, how, surface.name, text, got)
					}
					if !strings.Contains(got, "ordinary text behind it") {
						t.Errorf("%s, %s, %s: what follows is hidden: %q", name, how, surface.name, got)
					}
				}
			}
		}
	}
}

// cutAt is a line that a program cut at a width, so many characters of the secret before it.
func cutAt(width int, pad, before, secret, after string, n int) string {
	room := width - len(before) - n
	pad = pad[:max(0, room-1)]
	line := pad + strings.Repeat(" ", max(0, room-len(pad))) + before + secret + after
	return line[:width] + "\n" + line[width:]
}
