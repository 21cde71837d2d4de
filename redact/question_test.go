package redact

import (
	"strings"
	"testing"

	"github.com/ptywright/ptywright/redact/internal/rules"
)

func TestAsks(t *testing.T) {
	for _, line := range []string{
		"Password: ", "[sudo] password for me: ", "Enter passphrase for key '/home/me/.ssh/id_ed25519': ", "me@host's password:", "New password:",
		"Retype new password: ", "Enter PIN for 'YubiKey': ", "Vault password: ", "Enter pass phrase for key.pem:", "Enter your passwords",
		"Verification code: ", "One-time password (OATH) for 'me': ", "Token? ", "API key: ", "Client secret: ",
		"[sudo] Passwort für me: ", "[sudo] Mot de passe de me : ", "[sudo] contraseña para me: ", "[sudo] senha para me: ",
		"[sudo] hasło użytkownika me: ", "[sudo] wachtwoord voor me: ", "[sudo] heslo pro me: ", "[sudo] me için parola: ",
		"[sudo] lösenord för me: ", "[sudo] adgangskode for me: ", "[sudo] passord for me: ", "[sudo] käyttäjän me salasana: ",
		"[sudo] me jelszava: ", "[sudo] lozinka za me: ", "[sudo] geslo za me: ", "[sudo] parola pentru me: ", "[sudo] me parool: ",
		"[sudo] me slaptažodis: ", "[sudo] mật khẩu cho me: ", "[sudo] contrasenya per a me: ", "[sudo] пароль для me: ", "Введите ПАРОЛЬ: ",
		"[sudo] пароль до me: ", "[sudo] парола за me: ", "[sudo] συνθηματικό του me: ", "[sudo] me 的密码：", "[sudo] me 的密碼：", "me のパスワード: ",
		"[sudo] me의 암호: ", "비밀번호: ", "كلمة المرور: ", "סיסמה: ", "รหัสผ่าน: ",
	} {
		if !Asks(line, "", "") {
			t.Errorf("%q does not ask", line)
		}
		if !Asks("> ", line, "hunter2") {
			t.Errorf("%q does not ask on the line above", line)
		}
	}
	for _, line := range []string{
		"", "$ ", "name: ", "got-password", "/etc/passwd", "pinned 3 packages", "tokenizer ready", "my_password", "Passing 3 tests", "spin",
		"secretary: ", "password=", "opinion? ", "clavecin",
	} {
		if Asks(line, "", "") {
			t.Errorf("%q asks", line)
		}
	}
	if Asks("> ", "you said password", "password") {
		t.Error("what was typed and repeated asks")
	}
	if !Asks("Password: ", "", "password") {
		t.Error("a question asks no more, since its word was typed before")
	}
}

// A value behind what a password is called is hidden, in each language that is asked in.
func TestPasswordWords(t *testing.T) {
	for _, word := range rules.PasswordWords {
		texts := []string{word + "=", word + "：", "(" + word + ") " + word + ": ", strings.ToUpper(word) + ": "}
		for _, w := range rules.Capitals([]string{word}) {
			texts = append(texts, w+": ")
		}
		for _, text := range texts {
			in := text + "hunter9tr"
			if got := Default.String(in); got != text+"[REDACTED]" {
				t.Errorf("%q becomes %q", in, got)
			}
		}
	}
	for _, text := range []string{"密码是什么？", "パスワードを入力してください", "пароли: неверно", "Пароль: неверный", "密码: 错误", "contraseñas guardadas: 3", "密码：", "암호화: AES-256"} {
		if got := Default.String(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
