package redact

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

const (
	base62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	hexes  = "0123456789abcdef"
)

// dice draws made-up tokens: no literal one is in the source, where scanners of repositories would
// find it.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 1))} }

func (d dice) of(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[d.IntN(len(alphabet))]
	}
	return string(b)
}

// token draws what a shape asks for, at least.
func (d dice) token(sh *rules.Shape) string {
	var b strings.Builder
	draw := func(pieces []rules.Piece) {
		for _, p := range pieces {
			var members []byte
			for c, in := range p.Set.Members {
				if in {
					members = append(members, byte(c))
				}
			}
			// Letters and digits only where there are any: tokens end in them.
			var plain []byte
			for _, c := range members {
				if rules.IsAlnum(c) {
					plain = append(plain, c)
				}
			}
			if plain != nil {
				members = plain
			}
			n := p.Min
			if p.Max > n {
				n += d.IntN(p.Max - n + 1)
			}
			b.WriteString(d.of(n, string(members)))
		}
	}
	draw(sh.Before)
	b.WriteString(sh.Literal)
	draw(sh.After)
	return b.String()
}

// Every row of the table finds what it describes, wherever it stands, and says what it is.
func TestProviders(t *testing.T) {
	named, err := New(Policy{Classes: true})
	if err != nil {
		t.Fatal(err)
	}
	d := newDice(1)
	for _, p := range rules.Providers {
		if p.Class == "" || p.Source == "" {
			t.Errorf("%s: a row without class or source", p.Expr)
		}
		sh, err := rules.NewShapes().Parse(p.Before, p.Expr)
		if err != nil {
			t.Error(err)
			continue
		}
		for range 20 {
			token := d.token(sh)
			if !rules.Plausible("", token[len(token)-len(token)/2:]) {
				continue // the dice drew words
			}
			for _, around := range []string{"%", "using % now", "see '%', please", `{"x":"%"}`, "https://h.example/?x=%&y=1", "a%3D%", "x\x1b[1m%\x1b[m"} {
				i := strings.LastIndexByte(around, '%')
				in := around[:i] + token + around[i+1:]
				if got := Default.String(in); leaks(got, token) {
					t.Errorf("%s %s: %q becomes %q", p.Class, p.Expr, in, got)
				}
			}
			if got := named.String("using " + token + " now"); got != "using [REDACTED:"+p.Class+"] now" && !strings.Contains(got, "[REDACTED:") {
				t.Errorf("%s: %q becomes %q", p.Class, token, got)
			}
			// Cut off by the edge of a screen, no part of it is left.
			pad := strings.Repeat("word ", 12)
			for _, k := range []int{len(token) / 3, len(token) / 2, len(token) * 2 / 3} {
				in := pad + token[:k] + "\r\n" + token[k:] + "\r\n"
				if got := Default.String(in); leaks(got, token) && len(token) >= 24 && len(p.Before) == 0 && k > len(sh.Literal)+rules.LeastRest && rules.Varied(token[len(sh.Literal):k]) {
					t.Errorf("%s cut: %q becomes %q", p.Class, in, got)
				}
			}
		}
	}
}

// Names before a value: what goes, what stays.
func TestContexts(t *testing.T) {
	d := newDice(2)
	// One of each kind of value; the tests below say which they take.
	word := "Tr0ub4dor&3x"
	hex32, hex40, hex64 := d.of(32, hexes), d.of(40, hexes), d.of(64, hexes)
	b64 := d.of(42, base62) + "q=" // 44
	any24, any32, any40 := d.of(24, base62), d.of(32, base62), d.of(40, base62)
	for _, c := range []struct{ in, secret string }{
		// Environments, files, headers.
		{"DD_API_KEY=" + hex32, hex32},
		{"DD_APP_KEY=" + hex40, hex40},
		{"dd-application-key: " + hex40, hex40},
		{"DATADOG_APP_KEY: '" + hex40 + "'", hex40},
		{"Cookie: theme=dark; sessionid=" + any32, any32},
		{"> Cookie: session=" + any32 + "; csrftoken=" + any40, any32},
		{"< Set-Cookie: sid=" + any32 + "; Path=/; HttpOnly", any32},
		{"curl -b 'JSESSIONID=" + hex32 + "' https://h.example/", hex32},
		{"PHPSESSID=" + any24, any24},
		{"OPENAI_KEY=" + any40, any40},
		{"ALGOLIA_ADMIN_KEY: " + any32, any32},
		{"const key = \"" + any32 + "\"", any32},
		{"X-Auth-Token: " + hex64, hex64},
		{"Ocp-Apim-Subscription-Key: " + hex32, hex32},
		{"Authorization: Bot " + any40, any40},
		{"Authorization: token " + hex40, hex40},
		{"authorization: " + any40, any40},
		{"Endpoint=sb://x.example/;SharedAccessKeyName=root;SharedAccessKey=" + b64, b64},
		{"Server=db;User Id=sa;Password=" + word + ";Database=x", word},
		{"jdbc:postgresql://h/db?user=u&password=" + word, word},
		{"  tls.key: LS0tLS1CRUdJTiBQUklWQVRF" + d.of(60, base62), "LS0tLS1CRUdJTiBQUklWQVRF"},
		{"    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBL" + d.of(60, base62), "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBL"},
		{`{"auths":{"h":{"auth":"` + b64 + `"}}}`, b64},
		{"//npm.example/:_auth=" + b64, b64},
		{"//npm.example/:_password=\"" + b64 + "\"", b64},
		{`"d":"` + d.of(43, base62) + `","e":"AQAB"`, ""},
		{"spring.datasource.password=" + word, word},
		{"TF_VAR_db_password=" + word, word},
		{"db.password: " + word, word},
		{"rootpw=" + word, ""},
		{"SMTP_PASS=" + word, word},
		{"SSHPASS=" + word, word},
		{"AWS Secret Access Key [None]: " + any40, any40},
		{"Enter your API key (input hidden): " + any40, any40},
		{"localhost:5432:app:me:" + word, word},
		{"*:*:*:me:" + word, word},
		{"mnemonic: " + strings.TrimSpace(strings.Repeat("abandon ability ", 6)), "abandon ability abandon"},
		{"user:pass@tcp(db:3306)/x", "pass"},
		{"me:" + word + "@tcp(db:3306)/x", word},
		// Commands.
		{"mysql -uroot -p" + word + " db", word},
		{"mysql -u root --password=" + word + " db", word},
		{"sshpass -p '" + word + "' ssh h", word},
		{"docker login -u me -p " + word + " reg.example", word},
		{"redis-cli -h h -a " + word, word},
		{"curl -u me:" + word + " https://h/", word},
		{"curl --user me:" + word + " https://h/", word},
		{"tool --password " + word + " --x", word},
		{"tool --api-key " + any24 + " --x", any24},
		{"tool --client-secret '" + any24 + "'", any24},
		{"openssl rsa -in k -passin pass:" + word, word},
		{"ALTER USER me WITH PASSWORD '" + word + "';", word},
		{"CREATE USER me IDENTIFIED BY '" + word + "'", word},
		{"[sudo] password for me: " + word, word},
		{"Enter passphrase for key '/home/me/.ssh/id_ed25519': " + word, word},
		{"machine h login me password " + word, word},
		{"  password " + word, word},
		// Prose.
		{"your API key is " + any32 + ".", any32},
		{"wg set wg0 private-key " + b64, b64},
		{"using token " + any40 + " for the run", any40},
		{"https://" + any40 + "@git.example/r.git", any40},
		{"amqp://me:" + word + "@mq.example:5672/", word},
		{"https://h.example/cb?code=" + any24 + "&state=1", any24},
		{"https://s3.example/b/k?X-Amz-Signature=" + hex64 + "&x=1", hex64},
		{"new_thing_" + any40 + " was made", any40},
		{"root:$6$" + d.of(16, base62) + "$" + d.of(86, base62) + ":19000:0", ""},
		{"me:$2y$10$" + d.of(53, base62), ""},
	} {
		got := Default.String(c.in)
		if c.secret == "" {
			c.secret = "="
			if got == c.in && !strings.Contains(c.in, "rootpw") {
				t.Errorf("%q stays", c.in)
			}
			continue
		}
		if leaks(got, c.secret) {
			t.Errorf("%q becomes %q", c.in, got)
		}
		if again := Default.String(got); again != got {
			t.Errorf("not idempotent: %q, then %q", got, again)
		}
	}
}

// What only talks about secrets, and what only looks like one.
func TestBenign(t *testing.T) {
	d := newDice(3)
	sha, uuid := d.of(40, hexes), d.of(8, hexes)+"-"+d.of(4, hexes)+"-"+d.of(4, hexes)+"-"+d.of(4, hexes)+"-"+d.of(12, hexes)
	for _, line := range []string{
		"commit " + sha, "key " + sha, "HEAD is now at " + sha[:9] + " fix token handling", "session: " + uuid, "--session-id " + uuid,
		"Idempotency-Key: " + uuid, "Cache restored from key: Linux-node-" + d.of(64, hexes), "cache-key: go-" + d.of(64, hexes), "X-Request-Id: " + uuid,
		"public key: " + d.of(43, base62) + "=", "PublicKey = " + d.of(43, base62) + "=", "host key: SHA256:" + d.of(43, base62),
		"primary key: user_id", "foreign_key: users.id", "key: value", "hotkey: ctrl+c", "monkey: banana", "keyboard: us", "Key: Enter",
		"password: required", "Password: optional", "Token: expired", "token: invalid", "secret: not found", "api_key: string", "apiKey: String,",
		"token: string;", "password?: string", "--password <password>", "--token string   the token", "--api-key KEY  the key", "-p, --password PASSWORD",
		"  --password-file /run/secrets/db", "password-file: /etc/x", "secretName: my-secret", "secretKeyRef:", "tokenizer: cl100k_base",
		"token expires in 3600 seconds", "tokens: 18,432", "max_tokens=4096", "max_tokens: 4096", "input_tokens=1204", "token_type: bearer", "token_count=12",
		"password must be at least 8 characters", "PasswordAuthentication no", "passwords match", "Password strength:", "password incorrect.", "Password authentication is disabled",
		"if password == hash {", "token = next()", "password = getpass.getpass()", "self.token = token", "password: config.password,",
		"func (t *Token) String() string", "token := parser.Next()", "os.getenv('TOKEN')", "token=$(cat /run/token)", "password=${DB_PASSWORD:-}",
		"AWS_SECRET_ACCESS_KEY=<set>", "TOKEN_URL=https://h.example/oauth/token", "token_endpoint: https://h.example/token", "SECRET_NAME=db",
		"--- PASS: TestToken/with_secret (0.01s)", "ok  \texample/token\t0.012s", "PASS", "12 passed, 0 failed", "test_password_reset ... ok",
		"mkdir -p /tmp/x", "ssh -p 2222 me@h", "docker run -p 8080:80 -u 1000:1000 nginx", "sort -u f", "ps -u root", "cp -a a b", "grep -w word f", "git push -u origin main",
		"Set-Cookie: <omitted>", "cookies: 3", "Cookie: accepted", "code: 200", "exit code=1", "error code=E1234", "sig: none", "signature verified",
		"http://localhost:8080/a@b", "ssh://git@h.example:22/r.git", "postgres://localhost:5432/db", "npm http fetch GET 200 https://registry.example/x 12ms",
		"see https://h.example/docs/tokens#secret-key", "/usr/share/doc/passwd/README", "drwxr-xr-x 2 me me 4096 Nov 20 09:14 secrets", "secrets.txt  tokens.go  key.rs",
		"key.pem:-----BEGIN RSA PRIVATE KEY-----", "grep -r 'BEGIN PRIVATE KEY' .", "-----BEGIN PUBLIC KEY-----", "sk-learn-contrib-something-else",
		"hf_hub_download(repo)", "npm_config_registry=https://r.example", "github_pat_ is the prefix", "gho_ tokens are OAuth tokens", "xoxb-your-token-here", "SG.xxxxxxxx.yyyyyyyy",
		"AKIAIOSFODNN7EXAMPLE", "ghp_" + strings.Repeat("x", 36), "ghp_1234567890abcdefghijklmnopqrstuvwxyz", "r8_your_token_goes_here_please_ok", "Bearer authentication required",
		"WWW-Authenticate: Bearer realm=\"api\"", "Authorization: Bearer <token>", "v1.2.3-0.20260101120000-" + sha[:12], "sha256:" + d.of(64, hexes),
		"sha512-" + d.of(86, base62) + "==", "/nix/store/" + d.of(32, "abcdfghijklmnpqrsvwxyz0123456789") + "-glibc", "  97% |██████████  | 97/100 [00:12<00:01]",
		"arn:aws:secretsmanager:eu-west-1:123456789012:secret:db", "event_" + d.of(27, base62), "req_" + d.of(24, base62), "credential helper: store", "auth: basic", "auth=none",
		"author: A. Person <a@h.example>", "OAuth: enabled", "certificate key usage: digitalSignature", "user:x:1000:1000::/home/user:/bin/bash", "root:*:19000:0:99999:7:::",
		"src/auth/session_token_store_test.go:42:13: undefined: NewTokenFromSession", "class TokenAuthenticationFilterConfigurationFactoryBean", "id_token_signed_response_alg: RS256",
	} {
		if got := Default.String(line); got != line {
			t.Errorf("%q becomes %q", line, got)
		}
		if got := Default.String(strings.Repeat("word ", 12) + line + "\n" + line + "\n"); !strings.HasSuffix(got, line+"\n"+line+"\n") {
			t.Errorf("behind words, %q becomes %q", line, got)
		}
	}
}
