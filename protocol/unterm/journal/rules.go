package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/ptywright/ptywright/internal/lazy"
	"github.com/ptywright/ptywright/protocol/unterm/internal/shared"
)

// redacted is Unterm's marker, which clients look for.
const redacted = "<redacted>"

const token = `\bgh[pousr]_[A-Za-z0-9_]{36,}`

// Unterm's own rules for the text of a document, in order, as expressions of package regexp. The
// first keeps the key and the separator, the second the first eight characters; the third marks
// texts with a hash, and also matches long paths. Running all of them over a whole text takes ten
// times as long as the rest of a document: see keys and runs.
var (
	assignments = lazy.Regexp(`(?i)((?:\b|_)(?:token|key|secret|password|api[_-]?key|credential)s?[ \t]*[:=])[ \t]*\S+`)
	tokens      = lazy.Regexp(token)
	longRuns    = lazy.Regexp(`\b[A-Za-z0-9+/=_-]{40,}\b`)
)

var (
	aToken = lazy.Regexp(`^` + token + `$`)
	// hiddenTokens match the markers of tokens that were redacted in the log.
	hiddenTokens = lazy.Regexp(`<(gh[pousr]_[A-Za-z0-9_]{4})\.\.\.redacted>`)
	markers      = lazy.Regexp(`<(?:redacted|(?:token:)?[A-Za-z0-9_]{8}\.\.\.redacted)>`)
)

// hideAssigned is the first rule.
func hideAssigned(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; ; {
		k := strings.IndexAny(text[i:], ":=")
		if k < 0 {
			break
		}
		i += k + 1
		value := i + len(text[i:]) - len(strings.TrimLeft(text[i:], " \t"))
		end := value
		for end < len(text) && strings.IndexByte(" \t\n\f\r", text[end]) < 0 {
			end++
		}
		if end > value && key(strings.TrimRight(text[done:i-1], " \t")) {
			b.WriteString(text[done:i])
			b.WriteString(" " + redacted)
			done, i = end, end
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// key reports whether text ends in a word after which a secret follows.
func key(text string) bool {
	for range 2 {
		for _, w := range [...]string{"token", "key", "secret", "password", "apikey",
			"credential"} {
			if n := len(text) - len(w); n >= 0 && strings.EqualFold(text[n:], w) &&
				(n == 0 || text[n-1] == '_' || !inWord(text[n-1])) {
				return true
			}
		}
		n := len(text) - 1
		if n < 0 || text[n]|0x20 != 's' {
			break
		}
		text = text[:n]
	}
	return false
}

func inWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// hideRuns applies a rule to every run of at least that many characters of a long run.
func hideRuns(text string, least int, hide func(run string) string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		from := i
		for i < len(text) && inRun[text[i]] {
			i++
		}
		if i-from >= least {
			b.WriteString(text[done:from])
			b.WriteString(hide(text[from:i]))
			done = i
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

var inRun = func() (in [256]bool) {
	for c := range in {
		in[c] = inWord(byte(c)) || strings.IndexByte("+/=-", byte(c)) >= 0
	}
	return in
}()

// markToken is the log's text for a GitHub token that Unterm's second rule would have matched. The
// first rule does not match it.
func markToken(class, secret string) string {
	if class != "github-token" || !aToken().MatchString(secret) {
		return ""
	}
	return "<" + secret[:8] + "...redacted>"
}

// rules are Unterm's, as configured.
type rules struct {
	enabled bool
	custom  []*regexp.Regexp
}

// apply redacts the text of a block or a heading.
func (r *rules) apply(text string) string {
	if !r.enabled {
		return text
	}
	text = hideAssigned(text)
	text = hiddenTokens().ReplaceAllString(text, "<token:$1...redacted>")
	text = hideRuns(text, len("ghp_")+36, func(run string) string {
		run = tokens().ReplaceAllStringFunc(run, markedToken)
		if !strings.Contains(run, "<") {
			return longRuns().ReplaceAllStringFunc(run, hashed)
		}
		return hideRuns(run, 40,
			func(rest string) string { return longRuns().ReplaceAllStringFunc(rest, hashed) })
	})
	for _, re := range r.custom {
		text = re.ReplaceAllLiteralString(text, redacted)
	}
	return text
}

func markedToken(token string) string { return "<token:" + token[:8] + "...redacted>" }

func hashed(run string) string {
	sum := sha256.Sum256([]byte(run))
	return "<token:" + hex.EncodeToString(sum[:4]) + "...redacted>"
}

// config is recording.json. Other members are ignored.
type config struct {
	Redaction struct {
		Enabled  *bool    `json:"enabled"`
		Patterns []string `json:"custom_patterns"`
	} `json:"redaction"`
}

const (
	configMax = 1 << 20 // bytes of the file
	// patternMax and mostPatterns bound the patterns for a document: each reads all of it.
	patternMax   = 1024
	mostPatterns = 64
)

// rules reads recording.json. An invalid file would redact nothing, so it is an error, and no
// document is made.
func (j *Journal) rules() (*rules, error) {
	path := filepath.Join(j.o.Root, "recording.json")
	fail := func(err error) (*rules, error) {
		return nil, fmt.Errorf("what %s says is to be hidden is not known: %w; correct it or remove it", path, err)
	}
	data, err := shared.Read(path, configMax)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &rules{enabled: true}, nil
	case err != nil:
		return fail(bare(err))
	}
	var c config
	if err := json.Unmarshal(data, &c); err != nil {
		return fail(err)
	}
	r := &rules{enabled: c.Redaction.Enabled == nil || *c.Redaction.Enabled}
	if len(c.Redaction.Patterns) > mostPatterns {
		return fail(fmt.Errorf("it has %d custom_patterns, %d are the most",
			len(c.Redaction.Patterns), mostPatterns))
	}
	for i, p := range c.Redaction.Patterns {
		if len(p) > patternMax {
			return fail(fmt.Errorf("custom_patterns[%d] has %d bytes, %d are the most", i, len(p),
				patternMax))
		}
		re, err := regexp.Compile(p)
		if err != nil {
			var s *syntax.Error
			if errors.As(err, &s) { // the pattern may be the secret
				err = errors.New(s.Code.String())
			}
			return fail(fmt.Errorf("custom_patterns[%d]: %w", i, err))
		}
		if re.MatchString("") {
			return fail(fmt.Errorf("custom_patterns[%d] matches nothing at all, everywhere", i))
		}
		r.custom = append(r.custom, re)
	}
	return r, nil
}
