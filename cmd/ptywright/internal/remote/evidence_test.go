package remote

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

var updateEvidence = flag.Bool("update-evidence", false, "write sdk/evidence.json")

// evidenceFile has errors of the wire and what is printed for them, for the SDKs to print the same.
var evidenceFile = filepath.Join("..", "..", "..", "..", "sdk", "evidence.json")

// screen is a snapshot with what its evidence shows of it.
func screen(exit, title string, lines ...string) string {
	b, err := json.Marshal(lines)
	if err != nil {
		panic(err)
	}
	return `{"size":{"rows":24,"cols":80,"pixel_width":0,"pixel_height":0},"cursor":{"row":0,"col":0,"visible":true},"sequence":7,"plain_text":"","lines":` +
		string(b) + `,"cells":[],"alternate_screen":false,"application_cursor":false,"application_keypad":false,"bracketed_paste":false,"mouse":"none","title":` +
		title + `,"secret_input":false,"exit":` + exit + `}`
}

func waited(reason, elapsed, quiet, snapshot, matcher string) string {
	return `{"reason":"` + reason + `","elapsed_ms":` + elapsed + `,"quiet_ms":` + quiet + `,"sequence":7,"snapshot":` + snapshot +
		`,"transcript_tail":"","matcher":` + matcher + `}`
}

var evidenceCases = []struct{ code, message, data string }{
	{"-32001", "the wait timed out", waited("timeout", "300", "298", screen("null", "null", "$ echo 42", "42", "$", "", ""),
		`{"type":"contains_text","value":"never-there","held":false,"why":"the screen shows nothing like it"}`)},
	{"-32001", "the wait timed out", waited("timeout", "61500", "0", screen("null", `"vim – a.txt"`, "", "~", ""),
		`{"type":"screen_regex","value":"(?m)^x\\d+ \"q\" <é>$","scope":"screen","held":false,"why":"no match","nearest":"x1 \"q\"\ttab \\ é \u202e \u0007 \ud83d\ude00"}`)},
	{"-32001", "the wait timed out", waited("timeout", "3600000", "7205050", screen("null", "null"),
		`{"type":"all","value":[{"type":"screen_stable","value":{"min_ms":300},"held":true,"why":""},{"type":"any","value":[{"type":"bell","held":false,"why":"it has not rung"},`+
			`{"type":"not","value":{"type":"title_contains","value":"busy","held":true,"why":""},"held":false,"why":"it holds"}],"held":false,"why":"none holds"},`+
			`{"type":"cursor_at","value":{"row":1,"col":2},"held":false,"why":"it is at 0,0"},{"type":"any","value":[],"held":false,"why":"there is none"},`+
			`{"type":"lua","value":{"plugin":"p","predicate":"q","params":{"a":[1,2.5,null,true,"\u0001\n"]}},"held":false,"why":"it said no"}],"held":false,"why":"3 do not hold"}`)},
	{"-32002", "the session has ended", waited("session_ended", "0", "1000", screen(`{"exit_code":3,"signal":null,"draining":false}`, "null", "bye\u0007\u009b", "\ttab"),
		`{"type":"transcript_contains","value":"x","held":false,"why":"it is not in the output"}`)},
	{"-32002", "the session has ended", waited("session_ended", "59999", "10", screen(`{"exit_code":null,"signal":"SIGKILL","draining":true,"limit":"idle_ms"}`, "null", " "),
		`{"type":"process_exited","held":false,"why":"it runs"}`)},
	{"-32005", "the request was cancelled", waited("cancelled", "60000", "1", screen(`{"exit_code":null,"signal":null,"draining":false}`, `"a\nb"`, "x"),
		`{"type":"command_finished","value":{"exit_code":0},"held":false,"why":"none has ended"}`)},
	{"-32602", "unknown session s9", `{"reason":"unknown_session"}`},
	{"-32603", "the program of session s1 does not read its input: 4096 of 9000 bytes were taken in 5s", `{"reason":"input_blocked","written":4096,"length":9000}`},
}

// TestEvidenceFileIsFresh: what the SDKs print for an error is what [client.Evidence] says, behind the message.
func TestEvidenceFileIsFresh(t *testing.T) {
	type line struct {
		Error json.RawMessage `json:"error"`
		Text  string          `json:"text"`
	}
	var all []line
	for _, c := range evidenceCases {
		e := &client.Error{Message: c.message, Data: json.RawMessage(c.data)}
		var printed bytes.Buffer
		if v := e.Evidence(); v != nil {
			printed.WriteString(v.String())
		}
		text := strings.TrimSuffix(c.message+"\n"+printed.String(), "\n")
		raw := `{"code":` + c.code + `,"message":` + quoted(t, c.message) + `,"data":` + c.data + `}`
		all = append(all, line{json.RawMessage(raw), text})
	}
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(all); err != nil {
		t.Fatal(err)
	}
	if *updateEvidence {
		if err := os.WriteFile(evidenceFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(evidenceFile)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("sdk/evidence.json is stale (%v): go test ./cmd/ptywright/internal/remote -run Evidence -update-evidence writes it", err)
	}
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
