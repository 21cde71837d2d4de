package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
)

// formsOf are the ways in which a value is written: literally, in URLs, in JSON, and so on.
func formsOf(v string) []string {
	forms := differing([]string{v}, url.QueryEscape(v), url.PathEscape(v), jsonEscaped(v, true),
		jsonEscaped(v, false))
	add := func(more ...string) { forms = differing(forms, more...) }
	// In a URL: curl --data-urlencode; Python's quote, which leaves /; JavaScript's
	// encodeURIComponent.
	curl := strings.ReplaceAll(url.QueryEscape(v), "+", "%20")
	add(curl, strings.ReplaceAll(curl, "%2F", "/"), componentEscapes.Replace(curl))
	for _, f := range slices.Clone(forms) {
		if strings.Contains(f, "%") {
			add(lowerEscapes(f))
		}
	}
	// In a shell: bash's printf %q; within '', as shells and Python's shlex.quote have it; within
	// "".
	add(backslashed(v, " \t'\"\\|&;()<>!{}*[]?^$`,"), strings.ReplaceAll(v, "'", `'\''`),
		strings.ReplaceAll(v, "'", `'"'"'`), backslashed(v, "\"\\$`"))
	// PHP's JSON; HTML as Go and as Python and browsers write it.
	add(strings.ReplaceAll(jsonEscaped(v, false), "/", `\/`), html.EscapeString(v),
		namedEntities.Replace(html.EscapeString(v)))
	// Encoded whole, by itself or, as echo prints it, with its line end.
	add(base64.StdEncoding.EncodeToString([]byte(v)),
		base64.RawStdEncoding.EncodeToString([]byte(v)),
		base64.URLEncoding.EncodeToString([]byte(v)),
		base64.RawURLEncoding.EncodeToString([]byte(v)),
		base64.StdEncoding.EncodeToString([]byte(v+"\n")))
	digits := hex.EncodeToString([]byte(v))
	add(digits, strings.ToUpper(digits))
	return forms
}

var (
	// componentEscapes leaves what encodeURIComponent does (ECMA-262, section 19.2.6.4).
	componentEscapes = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")",
		"%2A", "*")
	namedEntities = strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;")
)

// differing appends those of more that are not among forms, and not longer than a literal may be.
func differing(forms []string, more ...string) []string {
	for _, f := range more {
		if len(f) <= MaxLiteralLen && !slices.Contains(forms, f) {
			forms = append(forms, f)
		}
	}
	return forms
}

// lowerEscapes is an escaped v with lower-case hexadecimal digits.
func lowerEscapes(v string) string {
	b := []byte(v)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// backslashed is v with a backslash before each of the characters.
func backslashed(v, characters string) string {
	var b strings.Builder
	for i := range len(v) {
		if strings.IndexByte(characters, v[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(v[i])
	}
	return b.String()
}

// jsonEscaped is v as in a JSON string; with forHTML, &, < and > are escaped too, as Go does and
// most do not.
func jsonEscaped(v string, forHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(forHTML)
	if err := e.Encode(v); err != nil {
		return v
	}
	return b.String()[1 : b.Len()-2] // without the quotes and the line end
}
