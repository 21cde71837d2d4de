package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PasswordWords are the words for a password, in lower case: what follows one of them and a colon
// is hidden, and a program that shows one while it reads without echo asks for a secret. The
// languages are those in which sudo, ssh, su and gpg ask.
var PasswordWords = []string{
	"password", "passwd", "passphrase", "pass phrase", // English; sudo also in Italian
	"passwort", "kennwort", // German
	"wachtwoord",         // Dutch
	"mot de passe",       // French
	"senha",              // Portuguese
	"contraseña",         // Spanish
	"contrasenya",        // Catalan
	"contrasinal",        // Galician
	"pasahitza",          // Basque
	"hasło",              // Polish
	"heslo",              // Czech, Slovak
	"lösenord",           // Swedish
	"passord",            // Norwegian
	"adgangskode",        // Danish
	"salasana",           // Finnish
	"jelszó",             // Hungarian
	"lozinka", "лозинка", // Croatian, Serbian
	"parolă",                 // Romanian
	"slaptažodis",            // Lithuanian
	"şifre",                  // Turkish
	"пароль",                 // Russian, Ukrainian
	"парола",                 // Bulgarian
	"κωδικός", "συνθηματικό", // Greek
	"סיסמה",                    // Hebrew
	"كلمة المرور", "كلمة السر", // Arabic
	"पासवर्ड",        // Hindi
	"mật khẩu",       // Vietnamese
	"รหัสผ่าน",       // Thai
	"kata sandi",     // Indonesian
	"密码", "密碼", "口令", // Chinese
	"パスワード", "暗証番号", // Japanese
	"비밀번호", "암호", // Korean
}

// askedWords ask for a secret, or for a password, only where a program reads without echo:
// elsewhere they are too weak.
var askedWords = []string{
	"pass:", "passcode", "pin", "puk", "cvv", "cvc", "otp", "totp", "2fa", "one-time",
	"one time code", "verification code", "security code", "authentication code", "authenticator",
	"recovery code", "backup code", "enter code", "enter the code", "your code", "token", "secret",
	"credential", "credentials", "api key", "apikey", "api-key", "access key", "secret key",
	"private key", "encryption key", "recovery key", "master key", "unlock", "decrypt",
	"contrasena", "clave", "parola", "parole", "parool", "geslo", "haslo", "sifre", "sandi",
	"kodeord", "jelszava", "palavra-passe", "код", "пін", "пин", "密钥", "验证码", "驗證碼", "認証コード",
	"인증번호",
}

// questionMax bounds how much of a line's end is read, in bytes.
const questionMax = 1 << 10

// Asks reports whether the cursor's line, or the one above it, asks for a secret: whether it
// contains a word for one, in any of about thirty languages. It is meant for a program that reads
// without echo: elsewhere such words are everywhere. typed is the program's earlier input; what the
// line above repeats of it does not count. The lines are logical ones: join rows that wrapped.
func Asks(line, above, typed string) bool {
	if asksIn(line) {
		return true
	}
	if typed = strings.TrimSpace(typed); typed != "" {
		above = strings.ReplaceAll(above, typed, "")
	}
	return asksIn(above)
}

func asksIn(line string) bool {
	line = strings.ToLower(line[max(0, len(line)-questionMax):])
	return slices.ContainsFunc(PasswordWords,
		func(w string) bool { return asksWith(line, w, true) }) ||
		slices.ContainsFunc(askedWords, func(w string) bool { return asksWith(line, w, false) })
}

// asksWith reports whether a word begins in line where a word may. It may be inflected, as in Czech
// hesla or "passwords"; a short one has to stand alone.
func asksWith(line, word string, inflected bool) bool {
	first, _ := utf8.DecodeRuneInString(word)
	for at := 0; ; at++ {
		i := strings.Index(line[at:], word)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(line[:at])
		after, _ := utf8.DecodeRuneInString(line[at+len(word):])
		begins := !spaced(first) || !joins(before) && !strings.ContainsRune("-/.", before)
		ends := !joins(after) && after != '=' || inflected && unicode.IsLetter(after)
		if begins && ends {
			return true
		}
	}
}

// Capitals adds the words' forms with an initial capital and in all capitals, where folding ASCII
// does not cover them: see [Rule].
func Capitals(words []string) (all []string) {
	for _, w := range words {
		all = append(all, w)
		if ASCII(w) {
			continue
		}
		_, n := utf8.DecodeRuneInString(w)
		for _, other := range []string{strings.ToUpper(w[:n]) + w[n:], strings.ToUpper(w)} {
			if !slices.Contains(all, other) {
				all = append(all, other)
			}
		}
	}
	return all
}

// spaced reports whether c's script separates words.
func spaced(c rune) bool {
	return !unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai)
}

// joins reports whether c next to a word makes it part of another.
func joins(c rune) bool {
	return c != utf8.RuneError &&
		(unicode.IsLetter(c) && spaced(c) || unicode.IsDigit(c) || c == '_')
}

// isPasswordWord reports whether a name is one of passwordWords, in any case of ASCII.
func isPasswordWord(name string) bool {
	return slices.ContainsFunc(PasswordWords,
		func(w string) bool { return len(w) == len(name) && Matches(name, w) })
}

// copula skips what is between a password's name and the password in a sentence: "your password is
// x".
func copula(t string, i int) int {
	for _, w := range []string{"has been set to ", "has been changed to ", "was set to ",
		"was changed to ", "was reset to ", "set to ", "changed to ", "reset to ", "is: ", "is ",
		"was ",
		"ist ", "lautet ", "es ", "est ", "è ", "é ", "jest ", "to ", "это ", "är ", "er "} {
		if Matches(t[i:], w) {
			i = Blanks(t, i+len(w))
			if Matches(t[i:], "now ") {
				i = Blanks(t, i+len("now "))
			}
			return i
		}
	}
	return i
}

// findTold hides the password at t[i:] in a sentence: one word, followed by the sentence's end or a
// comma.
func findTold(s *Text, at, i int) Candidate {
	t := s.text
	start, j, q := s.word(i)
	if q == 0 {
		j = start + len(strings.TrimRight(t[start:j], ".,;:!"))
	}
	if !password(t[start:j]) || placeholder(t, start, j) {
		return Candidate{}
	}
	return Candidate{From: at, Start: start, End: j, Hit: true, Open: j == len(t),
		Until: Ending{Quote: q}}
}
