package rules

import "strings"

// In programming languages the text after the name is not always the secret: a string has a prefix,
// a variable a type, and a lookup a default value.

// MaxExpression bounds how far an expression is searched for a string.
const MaxExpression = 256

// A quotation is a string literal in an expression.
type quotation struct {
	at int // of the opening quote
	// sure: it is the value. Otherwise it may as well say where the value is, like a function's
	// argument.
	sure bool
}

// stringIn finds the string literal that is the value of the expression at t[i:].
func stringIn(t string, i int) (q quotation, ok bool) {
	if k := stringPrefix(t, i); k > i {
		return quotation{k, true}, true
	}
	j := i
	for j < len(t) && j-i < 4 && strings.IndexByte("[(&*", t[j]) >= 0 {
		j = Blanks(t, j+1)
	}
	if k := stringPrefix(t, j); j > i && k < len(t) && isQuote(t[k]) {
		return quotation{k, t[i] != '['}, true
	}
	return stringInCall(t, i)
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// stringPrefixes are what languages put before the quote of a string: C, C#, D, Go, JavaScript,
// Python, Rust, Scala, SQL, shells.
var stringPrefixes = func() map[string]bool {
	m := map[string]bool{}
	for p := range strings.FieldsSeq("b r u f l n e c s q m br rb fr rf bf u8 u& ur lr cr raw @ $ $@ @$ @@ r# r## br# br## cr# # qq x") {
		m[p] = true
	}
	return m
}()

// stringPrefix returns where the quote of a string with a prefix at t[i] is; i if there is none.
func stringPrefix(t string, i int) int {
	k := i
	for k < len(t) && k-i < 5 && (IsAlnum(t[k]) || strings.IndexByte("@$#&", t[k]) >= 0) {
		k++
	}
	// The quote that closes an enclosing string is followed by the end of an expression.
	if k == i || k+1 >= len(t) || !isQuote(t[k]) || !stringPrefixes[strings.ToLower(t[i:k])] ||
		strings.IndexByte(" \t,;:)]}+.\\", t[k+1]) >= 0 {
		return i
	}
	return k
}

// stringInCall finds the last string among the arguments of the call or the lookup at t[i:], or its
// default value.
func stringInCall(t string, i int) (q quotation, ok bool) {
	end := min(len(t), i+MaxExpression)
	j := i
	for _, w := range []string{"new ", "await "} {
		if Matches(t[j:], w) {
			j = Blanks(t, j+len(w))
		}
	}
	if strings.HasPrefix(t[j:], "[]") { // Go's slices
		j += 2
	}
	name := j
	for j < end && (IsAlnum(t[j]) || strings.IndexByte("_.:$<>!?&", t[j]) >= 0) {
		j++
	}
	if j == name || IsDigit(t[name]) {
		return q, false
	}
	env := false // it reads the environment
	for k := name; k+len("env") <= j && !env; k++ {
		env = Matches(t[k:], "env")
	}
	if j < end && (t[j] == '(' || t[j] == '[' || t[j] == '{' && j > i) {
		closes, depth, strs, first := byte(')'), 0, 0, 0
		switch t[j] {
		case '[':
			if !env {
				return q, false
			}
			closes = ']'
		case '{':
			closes = '}'
		}
		for open := t[j]; j < end; j++ {
			switch c := t[j]; {
			case c == open:
				depth++
			case c == closes:
				depth--
			case isQuote(c):
				if q, strs = (quotation{at: j}), strs+1; strs == 1 {
					first = j
				}
				if _, k, _ := quoted(t, j); k < end {
					j = k
				} else {
					j = end
				}
			}
			if depth == 0 {
				break
			}
		}
		j = min(j, end)
		if depth == 0 && j < end {
			j++
		}
		if closes != ']' && strs > 0 && (!env || strs > 1) {
			q.sure = env || builds(t[name:j])
			if start, end, _ := quoted(t, q.at); !env && (q.sure || algorithm(t[start:end])) {
				q.at = first // what follows says how to read it
			}
			return q, true
		}
	}
	if !env {
		return q, false
	}
	k := Blanks(t, j)
	for _, w := range []string{"||", "??", "?:", "or "} {
		if strings.HasPrefix(t[k:], w) {
			if k = Blanks(t, k+len(w)); k < len(t) && isQuote(t[k]) {
				return quotation{k, true}, true
			}
		}
	}
	return q, false
}

// builds reports whether a function of that name only makes a value from a string.
func builds(callee string) bool {
	callee = strings.ToLower(callee[strings.LastIndexAny(callee, ".:<&")+1:])
	switch callee {
	case "string", "str", "bytes", "byte", "bytearray", "buffer", "from", "of", "securestring",
		"secretstr", "some", "ok", "cstring", "nsstring", "stringbuilder", "unicode",
		"text", "secret", "guardedstring", "strdup", "raw", "convertto-securestring",
		"sensitive", "b":
		return true
	}
	return false
}

// typed skips the type between the colon before t[i] and the `=` before a string: `password: string
// = 'x'`. It returns where that begins; 0: there is no type.
func typed(t string, i int) int {
	if before := strings.TrimRight(t[max(0, i-maxBlanks):i], " \t"); before == "" ||
		before[len(before)-1] != ':' {
		return 0
	}
	return assigned(t, i, "")
}

// declared is typed for languages without a separator between a name and its type: `var password
// string = "x"`, SQL.
func declared(t string, key int) int {
	i := Blanks(t, key)
	if i == key {
		return 0
	}
	for _, w := range []string{"string", "str", "text", "[]byte", "*string", "char", "varchar",
		"nvarchar", "bytes"} {
		if Matches(t[i:], w) {
			return assigned(t, i, w)
		}
	}
	return 0
}

// assigned returns where the string assigned after the type at t[i:] begins; 0: there is none.
func assigned(t string, i int, known string) int {
	j := i + len(known)
	for j < len(t) && j-i < maxBlanks &&
		(IsAlnum(t[j]) || strings.IndexByte("_.<>[]()|?&*' ", t[j]) >= 0) {
		if t[j] == ' ' && t[j-1] != '|' && t[j-1] != '*' && !strings.HasSuffix(t[:j], "'static") {
			if k := Blanks(t, j); k == len(t) || strings.IndexByte("|*=:", t[k]) < 0 {
				return 0
			}
		}
		j++
	}
	if known != "" && j < len(t) && t[j] == ':' { // :=
		j++
	}
	if j == i || j+1 >= len(t) || t[j] != '=' || t[j+1] == '=' || t[j+1] == '>' || t[i] == '\'' ||
		t[i] == ' ' {
		return 0
	}
	if j = Blanks(t, j+1); j < len(t) && (isQuote(t[j]) || stringPrefix(t, j) > j) {
		return j
	}
	return 0
}

// argument returns where the value begins if the name is an argument of a function and the next
// argument its value: `set("password", "x")`; 0: it is not.
func argument(t string, at, key int) int {
	word := wordStart(t, at)
	if word < 2 || key >= len(t) || !isQuote(t[key]) || t[word-1] != t[key] ||
		t[word-2] != '(' && t[word-2] != '[' {
		return 0
	}
	i := Blanks(t, key+1)
	if i == len(t) || t[i] != ',' {
		return 0
	}
	if i = Blanks(t, i+1); i < len(t) && isQuote(t[i]) {
		if start, end, _ := quoted(t, i); password(t[start:end]) {
			return i
		}
	}
	return 0
}

// dimension skips what a declaration puts after a variable's name: `password[]`, `password[64]`,
// `password?`.
func dimension(t string, key int) int {
	if key+1 < len(t) && (t[key] == '?' || t[key] == '!') && t[key+1] == ':' {
		if typed(t, Blanks(t, key+2)) > 0 {
			return key + 1
		}
		return key
	}
	if key == len(t) || t[key] != '[' {
		return key
	}
	j := key + 1
	for j < len(t) && IsDigit(t[j]) {
		j++
	}
	if j < len(t) && t[j] == ']' && j != key+2 { // [0] is an element
		return j + 1
	}
	return key
}

// tag skips a YAML tag at t[i] that gives the type of the value after it: `!!str x`. ok is false
// for one that replaces the value: `!Ref X` of CloudFormation, `!vault |` of Ansible, `!secret x`
// of Home Assistant.
func tag(t string, i int) (j int, ok bool) {
	if i == 0 || i >= len(t) || t[i] != '!' || t[i-1] != ' ' && t[i-1] != '\t' {
		return i, true
	}
	j = i + 1
	for j < len(t) && (IsLower(Fold(t[j])) || strings.IndexByte("!_.:-/", t[j]) >= 0) {
		j++
	}
	behind := Blanks(t, j)
	switch {
	case j == i+1 || j < len(t) && behind == j:
		return i, true // it continues as no tag does
	case behind == len(t):
		return i, !tags[strings.ToLower(t[i+1:j])]
	case strings.HasPrefix(t[i:], "!!"):
		return behind, true
	}
	return i, false
}

// tags are those that may be alone on their line, with their content below.
var tags = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`ref sub getatt join select importvalue findinmap if base64 split cidr transform getazs equals and or not condition
		vault secret env env_var include reference file lambda input unsafe`) {
		m[w] = true
	}
	return m
}()

// isExpression reports whether the value at t[i:] is an expression of a programming language
// without a string in it: a call, an index, a Go composite literal.
func isExpression(t string, i int) bool {
	t = t[i:min(len(t), i+MaxExpression)]
	if strings.HasPrefix(t, "[]") {
		n := strings.IndexAny(t, "{(")
		return n > 2 && only(t[2:n], "_.[]*")
	}
	n := 0
	for n < len(t) && (IsLower(Fold(t[n])) || t[n] == '.' || t[n] == '_') {
		n++
	}
	if n == 0 || n == len(t) {
		return false
	}
	switch inside := t[n+1:]; t[n] {
	case '(':
		k := strings.IndexByte(inside, ')')
		return k >= 0 && (n > 2 || k == 0) &&
			strings.Trim(strings.ToLower(inside[:k]),
				"abcdefghijklmnopqrstuvwxyz0123456789_.,:()[]{}&*+- ") == ""
	case '[':
		k := strings.IndexByte(inside, ']')
		return k > 0 &&
			strings.Trim(strings.ToLower(inside[:k]),
				"abcdefghijklmnopqrstuvwxyz0123456789_.:()+-* '\"") == ""
	}
	return false
}

// isType reports whether a type with parameters begins at t[i:]: Optional[str], Array<string>.
func isType(t string, i int) bool {
	j := i
	for j < len(t) && j-i < maxBlanks && (IsLower(Fold(t[j])) || t[j] == '.' && j > i) {
		j++
	}
	if j == i || j == len(t) || t[j] != '[' && t[j] != '<' {
		return false
	}
	closes := byte(']')
	if t[j] == '<' {
		closes = '>'
	}
	k := strings.IndexByte(t[j:min(len(t), j+maxBlanks)], closes)
	return k > 1 && strings.Trim(strings.ToLower(t[j+1:j+k]),
		"abcdefghijklmnopqrstuvwxyz_., |[<") == ""
}
