package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Rights are what a connection may do. Each level includes those below it: admin includes type, and
// type includes read.
type Rights int32

const (
	// RightAdmin allows everything. It is the zero value, so that a method which does not say what it
	// needs is refused to everyone else.
	RightAdmin Rights = iota
	// RightType allows using what runs: reading it, typing into it, resizing it.
	RightType
	// RightRead allows looking, with secrets hidden, and waiting.
	RightRead
)

// rightNames are the rights by their names on the wire and in flags, the least first.
var rightNames = [...]string{RightRead: "read", RightType: "type", RightAdmin: "admin"}

// RightNames returns "read", "type" and "admin", the least first.
func RightNames() []string {
	return []string{RightRead.String(), RightType.String(), RightAdmin.String()}
}

// String returns "read", "type" or "admin".
func (r Rights) String() string {
	if r < 0 || int(r) >= len(rightNames) {
		return fmt.Sprintf("Rights(%d)", int32(r))
	}
	return rightNames[r]
}

// ParseRights reads what String returns. Case matters.
func ParseRights(name string) (Rights, error) {
	for r, n := range rightNames {
		if n == name {
			return Rights(r), nil
		}
	}
	return RightRead, fmt.Errorf("%s is not a right: give %s", Quote(name, maxQuoted),
		strings.Join(RightNames(), ", "))
}

// Set reads what String returns, for a command line's flag. With an error r is the least.
func (r *Rights) Set(name string) (err error) {
	*r, err = ParseRights(name)
	return err
}

// Type is what a flag's help calls its value.
func (Rights) Type() string { return "RIGHTS" }

// Stronger returns the right that includes the other.
func (r Rights) Stronger(other Rights) Rights { return min(r, other) }

// Covers reports whether r is enough for what needs needs.
func (r Rights) Covers(needs Rights) bool { return r <= needs }

// permit is the one decision about rights: every dialect asks it, directly or through its
// connection. with names the part of the params that needs them, as "redact false"; "" is the
// method itself.
func (r Rights) permit(method string, needs Rights, with string) error {
	if r.Covers(needs) {
		return nil
	}
	return &ForbiddenError{Method: method, With: with, Needs: needs, Has: r}
}

// A ForbiddenError reports a request that its connection has no right to.
type ForbiddenError struct {
	Method string
	With   string // the part of the params that needs the right, as "redact false"; "": the method itself
	Needs  Rights
	Has    Rights // what the connection has
}

func (e *ForbiddenError) Error() string {
	what := Quote(e.Method, 64)
	if e.With != "" {
		what += " with " + e.With
	}
	return fmt.Sprintf("%s is forbidden: it needs the right %q and this connection has %q, which cannot be raised; use a connection that has it, such as the server's own socket, or have the operator grant it with --rights %s",
		what, e.Needs, e.Has, e.Needs)
}

// data is what the peer gets beside the message.
func (e *ForbiddenError) data() map[string]any {
	data := map[string]any{"method": e.Method, "needs": e.Needs.String(), "rights": e.Has.String()}
	if e.With != "" {
		data["with"] = e.With
	}
	return data
}

// Rights returns what the connection may do now. It does not block.
func (c *Conn) Rights() Rights { return Rights(c.rights.Load()) }

// Lower takes rights from the connection, in every dialect on it: each request that starts from now
// on is held to them, one that is queued too, and those that have started go on. Nothing raises
// them again: the error is then a *[ForbiddenError] that names method. It does not block.
func (c *Conn) Lower(method string, to Rights) error {
	for {
		has := c.Rights()
		if err := has.permit(method, to, fmt.Sprintf("rights %q", to)); err != nil {
			return err
		}
		if c.rights.CompareAndSwap(int32(has), int32(to)) {
			return nil
		}
	}
}

// permit decides whether a request may start, and begins its [Act] where that is to be told. The
// caller recovers a panic of the row.
func (c *Conn) permit(k *call) error {
	has, needs, with := c.Rights(), k.method.Needs, ""
	if k.method.NeedsFor != nil && (has != RightAdmin || c.audit != nil) {
		if more, what := k.method.NeedsFor(k.params); !needs.Covers(more) {
			needs, with = more, what
		}
	}
	if c.audit != nil && (needs != RightRead || k.method.Audited) {
		k.act = newAct(k.method.Name)
		k.act.Needs, k.act.With, k.act.Rights = needs, with, has
	}
	return has.permit(k.method.Name, needs, with)
}

// NeedsOf makes a [Method.NeedsFor] of a function of decoded params, as [Bind] decodes them. Params
// that do not decode need nothing: the row refuses them, by the same rules.
func NeedsOf[P any](of func(p *P) (needs Rights, with string)) func(json.RawMessage) (Rights, string) {
	return func(params json.RawMessage) (Rights, string) {
		var p P
		if err := Decode(params, &p); err != nil {
			return RightRead, ""
		}
		return of(&p)
	}
}
