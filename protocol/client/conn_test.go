package client

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

type input struct{ io.Reader }

func (input) Write(p []byte) (int, error) { return len(p), nil }
func (input) Close() error                { return nil }

func TestLinesOfAnyLengthUpToTheBound(t *testing.T) {
	const most = 200 << 10 // above the buffer
	around := len(fmt.Sprintf(`{"method":"m","params":"%s"}`+"\n", ""))
	for _, test := range []struct {
		n    int
		good bool
	}{{1, true}, {64<<10 - around, true}, {64 << 10, true}, {most - around, true}, {most - around + 1, false}, {10 * most, false}} {
		text := fmt.Sprintf(`{"method":"m","params":"%s"}`+"\n", strings.Repeat("x", test.n))
		var got int
		c := &conn{
			stream: input{}, in: newReader(strings.NewReader("\n \r\n" + text)), most: most, ended: make(chan struct{}),
			notice: func(_ string, params []byte) { got = len(params) - 2 },
		}
		c.read()
		if test.good != (c.err == nil) || test.good && got != test.n {
			t.Errorf("a line of %d bytes: %d bytes read, error %v", len(text), got, c.err)
		}
		if !test.good && !strings.Contains(c.err.Error(), "204800 bytes") {
			t.Errorf("error %v", c.err)
		}
	}
}

// TestSucceeded: the short way to read an answer finds what the parser finds, or leaves it to that.
func TestSucceeded(t *testing.T) {
	for line, short := range map[string]bool{
		`{"jsonrpc":"2.0","id":7,"result":{"a":[1,"}"]}}`:           true,
		`{"jsonrpc":"2.0","id":7,"result":null}`:                    true,
		`{"jsonrpc":"2.0","id":7,"result":"x,\"result\":1"}`:        true,
		`{"jsonrpc":"2.0","id":"7","result":{}}`:                    false,
		`{"jsonrpc":"2.0","id":null,"result":{}}`:                   false,
		`{"jsonrpc":"2.0","id":7,"error":{"code":1,"result":{}}}`:   false,
		`{"jsonrpc":"2.0","id":7, "result":{}}`:                     false,
		`{"jsonrpc":"2.0","result":{},"id":7}`:                      false,
		`{"jsonrpc":"2.0","method":"m","params":{"id":7}}`:          false,
		`{"jsonrpc":"2.0","id":99999999999999999999,"result":true}`: false,
	} {
		id, result, ok := succeeded([]byte(line))
		if ok != short {
			t.Errorf("%s: %v", line, ok)
		}
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if ok && (fmt.Sprint(id) != string(m.ID) || string(result) != string(m.Result)) {
			t.Errorf("%s: %d, %s", line, id, result)
		}
	}
}

// TestEvidencePrintsAsTheOthersDo: what String says is what every SDK says, and the command line.
func TestEvidencePrintsAsTheOthersDo(t *testing.T) {
	text, err := os.ReadFile("../../sdk/evidence.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Error struct {
			Code    int
			Message string
			Data    json.RawMessage
		}
		Text string
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	printed := 0
	for _, one := range all {
		want, got := strings.TrimPrefix(one.Text, one.Error.Message), ""
		if e := newError(one.Error.Code, one.Error.Message, one.Error.Data).Evidence(); e != nil {
			got = "\n" + e.String()
			printed++
		}
		if strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
			t.Errorf("%s:\n%q\nwant\n%q", one.Error.Data, got, want)
		}
	}
	if printed < 3 {
		t.Errorf("only %d had evidence", printed)
	}
}
