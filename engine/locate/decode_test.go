package locate

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/engine/vt"
)

// A seer guesses the whole of where it looks.
type seer struct{}

func (seer) Guess(plugin, predicate string, _ any) (func(*vt.Screen, vt.Rect) ([]Guess, error), error) {
	if plugin == "blind" {
		return nil, errors.New("unknown plugin blind")
	}
	return func(_ *vt.Screen, in vt.Rect) ([]Guess, error) {
		return []Guess{{Rect: in, Confidence: 0.5, Evidence: predicate}}, nil
	}, nil
}

func decode(text string) (Locator, error) {
	var t any
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return Locator{}, err
	}
	return Decode("locator", t, Options{Guesser: seer{}})
}

// TestDecode: each type of the JSON form is the words that mean the same.
func TestDecode(t *testing.T) {
	var used []string
	for text, want := range map[string]string{
		`"'Commit' in box 'Menu'"`:                                                                    "text 'Commit' in (box 'Menu')",
		`{"type":"text","value":"it's"}`:                                                              `text "it's"`,
		`{"type":"text","value":"a","exact":true,"nocase":true,"flow":true}`:                          "text 'a' exact nocase flow",
		`{"type":"regex","value":"a/b\\/c\\\\/d"}`:                                                    `regex /a\/b\/c\\\/d/`,
		`{"type":"regex","value":"\\Qa.b\\E"}`:                                                        `regex /a\.b/`,
		`{"type":"style","value":"fg=red bold"}`:                                                      "style 'fg=red bold'",
		`{"type":"link","value":"go.dev"}`:                                                            "link 'go.dev'",
		`{"type":"cursor"}`:                                                                           "cursor",
		`{"type":"rect","value":{"row":-2,"col":3,"cols":4}}`:                                         "rect -2,3 0x4",
		`{"type":"box"}`:                                                                              "box",
		`{"type":"box","value":"'Menu'"}`:                                                             "box 'Menu'",
		`{"type":"box","value":{"type":"regex","value":"M"}}`:                                         "box (regex /M/)",
		`{"type":"lines","value":"'b'"}`:                                                              "lines text 'b'",
		`{"type":"in","value":{"what":"'a'","where":{"type":"box"}}}`:                                 "text 'a' in box",
		`{"type":"beside","value":{"what":"'a'","side":"above","of":"'b'","within":3}}`:               "text 'a' above text 'b' within 3",
		`{"type":"has","value":{"what":"box","inner":"'b'"}}`:                                         "box has text 'b'",
		`{"type":"lacks","value":{"what":"box","inner":"'b'"}}`:                                       "box lacks text 'b'",
		`{"type":"pick","value":{"what":"'a'","n":-1}}`:                                               "last text 'a'",
		`{"type":"pick","value":{"what":"'a'","n":2}}`:                                                "nth 2 text 'a'",
		`{"type":"any","value":["'a'","'b'"]}`:                                                        "text 'a' or text 'b'",
		`{"type":"all","value":["'a'",{"type":"style","value":"bold"}]}`:                              "text 'a' and style 'bold'",
		`{"type":"all","value":["'a'"]}`:                                                              "text 'a'",
		`{"type":"cross","value":{"row":"'a'","col":"'b'"}}`:                                          "cross text 'a' text 'b'",
		`{"type":"guess","value":{"plugin":"places","predicate":"selected"}}`:                         "selected",
		`{"type":"guess","value":{"plugin":"places","predicate":"field","params":{"label":"Name:"}}}`: "field 'Name:'",
		`{"type":"guess","value":{"plugin":"p","predicate":"f","params":{"x":[1,"a'b"]}}}`:            `guess 'p' 'f' "{\"x\":[1,\"a'b\"]}"`,
		`{"type":"in","value":{"what":{"type":"lines","value":"selected"},"where":{"type":"pick","value":{"what":{"type":"box"},"n":0}}}}`: "(lines selected) in (first box)",
	} {
		l, err := decode(text)
		if err != nil || l.String() != want {
			t.Errorf("%s is %s (%v), want %s", text, l, err, want)
			continue
		}
		again, err := ParseWith(l.String(), Options{Guesser: seer{}})
		if err != nil || again.String() != want {
			t.Errorf("%s is read as %s (%v)", want, again, err)
		}
		var object struct{ Type string }
		if json.Unmarshal([]byte(text), &object) == nil {
			used = append(used, object.Type)
		}
	}
	for _, name := range Types() {
		if !slices.Contains(used, name) {
			t.Errorf("%s is not tested", name)
		}
	}
}

// TestDecodeErrors name the place in the tree, and what should be there.
func TestDecodeErrors(t *testing.T) {
	deep, wide := `{"type":"box"}`, `"'a'"`
	for range 40 {
		deep = `{"type":"lines","value":` + deep + `}`
	}
	for range 300 {
		wide += `,"'a'"`
	}
	for text, want := range map[string]string{
		`7`:                                     "locator: expected a locator: words",
		`{}`:                                    "locator.type: expected one of all, any, beside",
		`{"type":"txt"}`:                        `locator.type: expected one of all, any`,
		`"txt 'a'"`:                             `locator: locator, at byte 0: unknown word "txt"`,
		`{"type":"text"}`:                       "locator.value: expected a string, got nothing",
		`{"type":"text","value":""}`:            "a text that is not empty",
		`{"type":"text","value":"a","exact":1}`: "locator.exact: expected true or false, got 1",
		`{"type":"regex","value":"a("}`:         `locator.value: invalid regular expression: missing closing ): "a("`,
		`{"type":"regex","value":"a{1000}b{1000}"}`:                                     "locator.value: an expression of",
		`{"type":"style","value":"rot"}`:                                                "locator.value: ",
		`{"type":"rect","value":{"row":0}}`:                                             "locator.value.col: expected an integer",
		`{"type":"any","value":[]}`:                                                     "locator.value: expected an array of locators",
		`{"type":"any","value":["'a'",{"type":"lines","value":"'b"}]}`:                  "locator.value[1].value: locator, at byte 0: a quoted text is not closed",
		`{"type":"beside","value":{"what":"'a'","of":"'b'"}}`:                           "locator.value.side: expected one of above, below, left_of, right_of",
		`{"type":"beside","value":{"what":"'a'","of":"'b'","side":"on"}}`:               "locator.value.side: expected one of",
		`{"type":"beside","value":{"what":"'a'","of":"'b'","side":"above","within":0}}`: "locator.value.within: expected an integer from 1",
		`{"type":"in","value":{"what":"'a'"}}`:                                          "locator.value.where: expected a locator",
		`{"type":"guess","value":{"plugin":"blind","predicate":"f"}}`:                   "locator.value: unknown plugin blind",
		deep:                                    "nested deeper than 32",
		`{"type":"any","value":[` + wide + `]}`: "more than 256 parts",
		`"` + strings.Repeat("'a' or ", 200) + `'a'"`: "",
	} {
		_, err := decode(text)
		var bad *TreeError
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
	if _, err := Decode("locator", "selected", Options{}); err == nil || !strings.Contains(err.Error(), "only a server does") {
		t.Errorf("without plugins: %v", err)
	}
}

// TestGuess: what a plugin guesses is a place within where it was asked to look, and is told.
func TestGuess(t *testing.T) {
	s := screen(6, 28, "┌ Menu ─┐\n│ Open  │\n└───────┘")
	l, err := decode(`{"type":"in","value":{"what":"selected","where":"box 'Menu'"}}`)
	if err != nil {
		t.Fatal(err)
	}
	found, guesses, err := l.Look(s)
	if err != nil || len(found) != 1 || found[0].Text != " Open" || len(guesses) != 1 || guesses[0].Confidence != 0.5 ||
		guesses[0].String() != "selected of places guesses 1,1 1x7 with confidence 0.50: selected" {
		t.Errorf("%+v, %+v, %v", found, guesses, err)
	}
}

// TestShown: an error quotes the screen that may be shown, and not the one that was asked about.
func TestShown(t *testing.T) {
	s, shown := screen(3, 20, "key hunter2\nkey hunter2"), screen(3, 20, "key *******\nkey *******")
	l, _ := Parse("/hunter\\d/")
	if _, err := l.OneShown(s, shown); err == nil || strings.Contains(strings.ReplaceAll(err.Error(), l.String(), ""), "hunter") ||
		!strings.Contains(err.Error(), `0,4 "*******"`) {
		t.Error(err)
	}
	l, _ = Parse("'hunter3'")
	if _, err := l.OneShown(s, shown); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

// TestLeftScreen: a text that has scrolled off is known to have been there.
func TestLeftScreen(t *testing.T) {
	s := screen(3, 20, "one\ntwo\nthree\nfour\nfive")
	for words, want := range map[string]bool{
		"'one'": true, "last 'two'": true, "'one' in box": true, "/^t.o$/": true, "'four'": false, "box": false, "'one' or 'two'": false,
	} {
		l, err := Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		if line, ok := l.LeftScreen(s); ok != want || ok && line > 1 {
			t.Errorf("%s: line %d, %v", words, line, ok)
		}
	}
}

// FuzzDecode: no JSON makes trouble; a locator is read again from its own words, and its places lie
// on the screen.
func FuzzDecode(f *testing.F) {
	f.Add(`{"type":"in","value":{"what":"'a'","where":{"type":"box","value":"'x'"}}}`, "\x1b[31m┌ x ┐\n│ab │\n└───┘")
	f.Add(`{"type":"any","value":[{"type":"regex","value":"\\Q/\\E+"},{"type":"guess","value":{"plugin":"p","predicate":"q","params":{"l":"'"}}}]}`, "a//b")
	f.Add(`{"type":"beside","value":{"what":{"type":"pick","value":{"what":"/\\w/","n":-2}},"side":"below","of":{"type":"rect","value":{"row":-9,"col":0}},"within":1}}`, "a b\nc d")
	f.Add(`{"type":"cross","value":{"row":{"type":"text","value":"é","flow":true},"col":{"type":"all","value":["cursor","style 'bold'"]}}}`, "e\u0301  日本\nx")
	f.Fuzz(func(t *testing.T, text, output string) {
		l, err := decode(text)
		if err != nil {
			return
		}
		again, err := ParseWith(l.String(), Options{Guesser: seer{}})
		if err != nil && strings.Contains(err.Error(), "nested deeper") || err != nil && strings.Contains(err.Error(), "more than") {
			return // parentheses count in words
		}
		if err != nil || again.String() != l.String() {
			t.Fatalf("%s became %s: %v", text, l, err)
		}
		s := screen(8, 20, output)
		found, err := l.All(s)
		if err != nil {
			return
		}
		same, err := again.All(s)
		if err != nil || len(same) != len(found) {
			t.Fatalf("%s finds %v, and its words %v (%v)", text, found, same, err)
		}
		for _, p := range found {
			for _, x := range p.Spans {
				if x.Row < 0 || x.Row >= s.Rows || x.Col < 0 || x.End > s.Cols || x.Col >= x.End {
					t.Fatalf("%s: %v", l, p)
				}
			}
		}
	})
}
