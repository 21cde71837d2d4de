package mcp

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxBatch bounds a batch, in versions that have them: refused entries are answered, too.
const maxBatch = 256

// A batch collects the answers to one batch of requests.
type batch struct {
	left    int // unanswered requests
	answers []json.RawMessage
}

// batchless is the first version without batches. Versions compare as text.
const batchless = "2025-06-18"

// takeBatch runs a batch, in versions that have them.
func (c *lineConn) takeBatch(entries []json.RawMessage) {
	c.mu.Lock()
	version := c.version
	c.mu.Unlock()
	switch {
	case version == "" || version >= batchless:
		c.refuse(&jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: "a batch: this version of MCP has none, send one message a line"})
		return
	case len(entries) == 0 || len(entries) > maxBatch:
		c.refuse(&jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: "a batch has 1 to 256 messages"})
		return
	}
	b := &batch{left: 1} // one for us, until all are known
	for _, text := range entries {
		msg, bad := decode(text)
		if bad != nil {
			c.answer(&jsonrpc.Response{Error: bad}, b)
			continue
		}
		if msg = c.accept(msg, b); msg == nil {
			continue
		}
		if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
			c.mu.Lock()
			b.left++
			c.mu.Unlock()
		}
		c.queue = append(c.queue, msg)
	}
	c.settle(b, nil)
}

// settle adds an answer, if any, to its batch, and writes the batch when it was the last.
func (c *lineConn) settle(b *batch, text []byte) error {
	c.mu.Lock()
	if text != nil {
		b.answers = append(b.answers, text)
	}
	b.left--
	done := b.left == 0
	c.mu.Unlock()
	if !done || len(b.answers) == 0 {
		return nil
	}
	all, err := json.Marshal(b.answers)
	if err != nil {
		return err
	}
	return c.write(all)
}
