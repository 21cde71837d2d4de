package protocol_test

import (
	"context"

	"github.com/ptywright/ptywright/protocol"
)

// echoDialect has one row that waits for nothing.
type echoDialect struct{}

type echoParams struct {
	Session string `json:"session"`
	Redact  bool   `json:"redact"`
}

func (echoDialect) Open(*protocol.Conn) protocol.Handler { return echoDialect{} }
func (echoDialect) Method(name string) (protocol.Method, bool) {
	return echoMethod, name == "echo"
}

var echoMethod = protocol.Method{
	Name: "echo",
	Key:  protocol.KeyMember("session"),
	Call: protocol.Bind(func(_ context.Context, p echoParams) (echoParams, error) { return p, nil }),
}

func (echoDialect) Error(err error) *protocol.Error { return protocol.Standard(err) }
func (echoDialect) Close()                          {}
