package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/client"
)

// longestReply bounds one answer to Lower, in bytes: an error's message has at most 1 KiB.
const longestReply = 16 << 10

// Lower gives up rights of a new connection to a server, before anything else is sent over it: what
// is relayed over it afterwards can do no more than that, and never gets it back. name and host are
// who will use it, for the server's audit; "" where that is not known. It blocks for the answers.
// The error is a *[client.Error] when the server refuses, as where its socket allows less.
func Lower(stream io.ReadWriter, to protocol.Rights, name, host string) error {
	type request struct {
		Version string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}
	var lines bytes.Buffer
	encode := json.NewEncoder(&lines) // which ends each with a line end
	requests := []request{
		{Method: "server.set_rights", Params: map[string]string{"rights": to.String()}},
	}
	if name != "" {
		requests = append(requests, request{Method: "server.set_client",
			Params: map[string]string{"name": name, "host": host}})
	}
	for id, r := range requests {
		r.Version, r.ID = "2.0", id
		if err := encode.Encode(r); err != nil {
			return err
		}
	}
	if _, err := stream.Write(lines.Bytes()); err != nil {
		return fmt.Errorf("lower the rights of the connection to %s: %w", to, err)
	}
	for _, r := range requests {
		reply, err := replyLine(stream)
		if err != nil {
			return fmt.Errorf("lower the rights of the connection to %s: %w", to, err)
		}
		var m struct {
			Error *struct {
				Code    int
				Message string
				Data    struct{ Reason client.Reason }
			}
		}
		if err := json.Unmarshal(reply, &m); err != nil {
			return fmt.Errorf("lower the rights of the connection to %s: the server's answer is not JSON: %w", to, err)
		}
		if m.Error != nil {
			return &client.Error{Method: r.Method, Code: m.Error.Code, Reason: m.Error.Data.Reason,
				Message: m.Error.Message}
		}
	}
	return nil
}

// replyLine reads one line, and nothing of what comes after it.
func replyLine(r io.Reader) ([]byte, error) {
	var line []byte
	one := make([]byte, 1)
	for {
		if _, err := io.ReadFull(r, one); err != nil {
			return nil, err
		}
		if one[0] == '\n' {
			return line, nil
		}
		if line = append(line, one[0]); len(line) > longestReply {
			return nil, fmt.Errorf("the answer has more than %d bytes", longestReply)
		}
	}
}

// LinkedFrom returns the machine from which this program was started over SSH, as that says; "" when
// it was not.
func LinkedFrom() string {
	from, _, _ := strings.Cut(os.Getenv("SSH_CONNECTION"), " ")
	return from
}
