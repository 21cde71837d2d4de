package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/config"
	"github.com/ptywright/ptywright/protocol"
	"github.com/ptywright/ptywright/protocol/far"
	"github.com/ptywright/ptywright/protocol/native"
)

// Hub puts machines in front of the native dialect of this one.
func Hub(local protocol.Dialect, machines []config.Machine, log *slog.Logger) (*far.Hub, error) {
	model, err := Model()
	if err != nil {
		return nil, err
	}
	var all []far.Host
	for _, m := range machines {
		all = append(all, hostOf(m))
	}
	return far.New(local, model, all, log)
}

func hostOf(m config.Machine) far.Host {
	return far.Host{Name: m.Name, Open: func(ctx context.Context) (io.ReadWriteCloser, error) {
		return Open(ctx, m)
	}}
}

// Model is where the native wire has ids.
func Model() (*far.Model, error) {
	text, err := json.Marshal(native.Model())
	if err != nil {
		return nil, err
	}
	return far.ReadModel(text)
}

// Check connects to a machine once, and tells what answers there.
func Check(ctx context.Context, m config.Machine) (far.Answer, error) {
	model, err := Model()
	if err != nil {
		return far.Answer{}, err
	}
	return far.Check(ctx, model, hostOf(m))
}

// Reason is why a machine cannot be reached, without the words around it.
func Reason(err error) string {
	var away *far.UnreachableError
	var lost *far.LostError
	switch {
	case errors.As(err, &away):
		err = away.Err
	case errors.As(err, &lost):
		err = lost.Err
	}
	return protocol.Message(err.Error())
}
