package redact

import (
	"strings"
	"testing"
)

// What code, package managers, prompts and messages say behind a secret's name is no secret.
func TestNoValue(t *testing.T) {
	for _, line := range []string{
		"      + token = (known after apply)", `      "@octokit/auth-token": "^6.0.0",`, `    "node_modules/@octokit/auth-token": {`, `"auth-token": ">=1.2"`, `"auth-token": "4.0.0"`,
		"token => {", "const token = {", "const token = await getToken()", "self.access_token = access_token", "user.password = password_ptr", "def f(authkey=None):", "const token = new Token(x)", "username, password = name",
		`getpass.getpass("Password: ")`, `pw = input("Password: ", x)`, `read -p 'Password: ' pw`, "echo ${GITHUB_TOKEN:-}", `if [ -z "${GITHUB_TOKEN:-}" ]; then`, "${TOKEN:?is not set}",
		"Set-Cookie: theme=dark", "Set-Cookie: theme=dark; Path=/", "Set-Cookie: lang=en-US", "csrf token: mismatch", "https://h.example/list?x=1&token=next",
		"user.signingkey=3AA5C34371567BD2", "user.signingkey=~/.ssh/id_ed25519.pub", "node key: gke-prod-default-pool-1a2B3c4d-x9zq", "bash: my-pass: command not found",
		"unexpected token: 15234", "Enter token: then press Enter", "Password: Traceback (most recent call last):", "Password: root@vm:/tmp# ",
		"Password: me@host.example:~$ ls -la", "Password: [root@vm tmp]# ls", "[sudo] password for me: root@vm:/tmp# ", "Password: $ ", "Password: # ", "Password: ❯ ",
		"ii  passwd         1:4.13+dfsg1-1 amd64        change and administer password and group data", "passwd 1:4.13+dfsg1-1", "passwd\t1:4.13+dfsg1-1",
	} {
		if got := Default.String(line); got != line {
			t.Errorf("%q becomes %q", line, got)
		}
	}
}

// What is like that, and is a secret.
func TestValue(t *testing.T) {
	x := newDice(7).of(18, base62)
	for _, c := range []struct{ in, secret string }{
		{"password: correcthorse", "correcthorse"}, {"Password: correcthorse\r\n$ ", "correcthorse"}, {"password: correcthorse username: me", "correcthorse"},
		{"password = correcthorse", "correcthorse"}, {"password = Sunshine_day", "Sunshine_day"}, {"DB_TOKEN=my_token_of_mine", "my_token_of_mine"}, {"host=h password=correcthorse sslmode=disable", "correcthorse"}, {"PGPASSWORD=correcthorse psql now", "correcthorse"},
		{"passphrase: correcthorse battery staple", "correcthorse"}, {"password: correcthorse # mine", "correcthorse"}, {"password: correcthorse    ok", "correcthorse"},
		{"user: me, password = correcthorse", "correcthorse"}, {"${DB_PASSWORD:-" + x + "}", x}, {"don't use password='" + x + "'", x}, {`say "password: "` + x, ""},
		{`echo "a" "password: ` + x + `"`, x}, {"Set-Cookie: sid=" + x, x}, {"Set-Cookie: theme=dark; sid=1", ""}, {"token: 152345", "152345"}, {"?password=correct", "correct"},
		{"password: !@#$%^&*", "!@#$%^&*"}, {"password: (" + x + ")", x}, {"Password: me@home#1", "me@home#1"}, {"password: 192.168.12.1-x", "192.168.12.1-x"},
	} {
		if c.secret == "" {
			continue
		}
		got := Default.String(c.in)
		if leaks(got, c.secret) {
			t.Errorf("%q becomes %q", c.in, got)
		}
		if again := Default.String(got); again != got {
			t.Errorf("not idempotent: %q, then %q", got, again)
		}
		if strings.TrimSpace(got) == DefaultReplacement {
			t.Errorf("%q is gone", c.in)
		}
	}
}

// Where files, tables and programs put a value otherwise than behind its name and `:` or `=`.
func TestPlacesOfValues(t *testing.T) {
	d := newDice(8)
	for range 50 {
		x := "aB3" + d.of(15, base62)
		for _, in := range []string{
			`{"name":"DB_PASSWORD","value":"%"}`, `{"Name": "DB_PASSWORD", "Value": "%"},`, `<add key="password" value="%"/>`, "<password>%</password>", "  <ns:secretKey>%</ns:secretKey>",
			`password = """%"""`, "token = '''%'''", "Server=db;Uid=sa;Pwd=%;Database=x", "Pwd=%;Uid=sa", `psk="%"`, `	#psk="%"`, "https://h.example/?u=%3Ftoken%3D%%26x%3D1",
			"SecretAccessKey  %", "|  SecretAccessKey |  %  |", "│ DB_PASSWORD │ % │", "┃ token ┃ % ┃", "pass: %", "  pass = %", `{"user":"me","pass":"%"}`,
			"Your new password is: %", "A temporary password is generated for root@localhost: %", "zip -P % a.zip b", "unzip -P % a.zip", "Passwort: %", "Mot de passe : %",
		} {
			i := strings.LastIndex(in, "%")
			if k := strings.Index(in, "%%26"); k >= 0 {
				i = k
			}
			text := in[:i] + x + in[i+1:]
			got := Default.String(text)
			if leaks(got, x) || !strings.Contains(got, "[REDACTED]") || !strings.HasPrefix(got, in[:min(3, i)]) {
				t.Errorf("%q becomes %q", text, got)
			}
			if again := Default.String(got); again != got {
				t.Errorf("not idempotent: %q, then %q", got, again)
			}
		}
	}
	for _, in := range []string{
		"| password | varchar(255) | YES |", "| token | string | required |", "| secret | the key to sign with |", "│ token │ v1.2.3 │", "| password | email |", "| secret | kubernetes.io/tls |", "| password | bcrypt/10 |", "--password <password> --user <user>",
		"<password>", "<password></password>", "PWD=/home/me; cd x", "PWD=/home/me", "--- PASS: TestX2 (0.1s)", "pass: 12", "second pass: 12.3ms3A", "pass=true", "pass: ok",
		"gzip -p 12", "password is: required", `{"name":"password","type":"text"}`, "key_mgmt=WPA-PSK WPA-EAP", `{"name":"DB_PASSWORD","value":""}`, "rsync -P me@h:/x y", "| Key | token | Value |",
	} {
		if got := Default.String(in); got != in {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}
