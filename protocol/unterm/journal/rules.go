package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
)

// redacted is Unterm's marker, which clients look for.
const redacted = "<redacted>"

// Unterm's own rules for the text of a document, in their order. The first keeps the key and what stands between, the second the
// first eight characters; the third tells texts apart by a hash, and hits long paths, too.
var (
	assignments = regexp.MustCompile(`(?i)((?:\b|_)(?:token|key|secret|password|api[_-]?key|credential)s?[ \t]*[:=])[ \t]*\S+`)
	tokens      = regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9_]{36,}`)
	longRuns    = regexp.MustCompile(`\b[A-Za-z0-9+/=_-]{40,}\b`)
)

var (
	aToken = regexp.MustCompile(`^` + tokens.String() + `$`)
	// hiddenTokens are those that the log has no more.
	hiddenTokens = regexp.MustCompile(`<(gh[pousr]_[A-Za-z0-9_]{4})\.\.\.redacted>`)
	markers      = regexp.MustCompile(`<(?:redacted|(?:token:)?[A-Za-z0-9_]{8}\.\.\.redacted)>`)
)

// markToken is what stands in a log for a GitHub token that Unterm's second rule would have found. It is none of the first rule's.
func markToken(class, secret string) string {
	if class != "github-token" || !aToken.MatchString(secret) {
		return ""
	}
	return "<" + secret[:8] + "...redacted>"
}

// rules are Unterm's, as they are configured.
type rules struct {
	enabled bool
	custom  []*regexp.Regexp
}

// apply redacts the text of a block or a heading.
func (r *rules) apply(text string) string {
	if !r.enabled {
		return text
	}
	text = assignments.ReplaceAllString(text, "$1 "+redacted)
	text = hiddenTokens.ReplaceAllString(text, "<token:$1...redacted>")
	text = tokens.ReplaceAllStringFunc(text, func(t string) string { return "<token:" + t[:8] + "...redacted>" })
	text = longRuns.ReplaceAllStringFunc(text, func(run string) string {
		sum := sha256.Sum256([]byte(run))
		return "<token:" + hex.EncodeToString(sum[:4]) + "...redacted>"
	})
	for _, re := range r.custom {
		text = re.ReplaceAllLiteralString(text, redacted)
	}
	return text
}

// config is recording.json. What else is in it is of no meaning here.
type config struct {
	Redaction struct {
		Enabled  *bool    `json:"enabled"`
		Patterns []string `json:"custom_patterns"`
	} `json:"redaction"`
}

const (
	configMax = 1 << 20 // bytes of the file
	// patternMax and mostPatterns bound what a document is held against: each pattern reads all of it.
	patternMax   = 1024
	mostPatterns = 64
)

// rules reads recording.json. A file that cannot be understood hides nothing, so it is an error, and no document is made.
func (j *Journal) rules() (*rules, error) {
	path := filepath.Join(j.o.Root, "recording.json")
	fail := func(err error) (*rules, error) {
		return nil, fmt.Errorf("what %s says is to be hidden is not known: %w; correct it or remove it", path, err)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &rules{enabled: true}, nil
	}
	if err != nil {
		return fail(bare(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return fail(errors.New("it is no file"))
	}
	data, err := io.ReadAll(io.LimitReader(f, configMax+1))
	switch {
	case err != nil:
		return fail(bare(err))
	case len(data) > configMax:
		return fail(fmt.Errorf("it has more than %d bytes", configMax))
	}
	var c config
	if err := json.Unmarshal(data, &c); err != nil {
		return fail(err)
	}
	r := &rules{enabled: c.Redaction.Enabled == nil || *c.Redaction.Enabled}
	if len(c.Redaction.Patterns) > mostPatterns {
		return fail(fmt.Errorf("it has %d custom_patterns, %d are the most", len(c.Redaction.Patterns), mostPatterns))
	}
	for i, p := range c.Redaction.Patterns {
		if len(p) > patternMax {
			return fail(fmt.Errorf("custom_patterns[%d] has %d bytes, %d are the most", i, len(p), patternMax))
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
