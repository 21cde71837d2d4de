package engine

import (
	"fmt"
	"slices"
)

// MaxName is the longest name of a session, in bytes.
const MaxName = 64

// A NameError is about an invalid session name.
type NameError struct {
	Name string // as requested
}

func (e *NameError) Error() string {
	why := ""
	if isID(e.Name) {
		why = "it has the form of ids; "
	}
	return fmt.Sprintf("%s cannot be a session's name: %sgive %s, such as job1", Quote(e.Name), why, NameRule)
}

// NameRule describes a valid name, for errors and descriptions.
const NameRule = "a letter and up to 63 letters, digits, '.', '_' and '-', but not a lower-case letter and digits alone, as ids are"

// A NameTakenError is about a name that a running session has.
type NameTakenError struct {
	Name    string
	Session ID // that has it; "" while it is being started
}

func (e *NameTakenError) Error() string {
	who := "a session that is being started"
	if e.Session != "" {
		who = "session " + string(e.Session)
	}
	return fmt.Sprintf("the name %s is taken by %s, whose program runs: choose another, or end that one first", e.Name, who)
}

// CheckName checks a session name against [NameRule]. The error is a *[NameError].
func CheckName(name string) error {
	ok := name != "" && len(name) <= MaxName && isLetter(name[0]) && !isID(name)
	for i := 1; ok && i < len(name); i++ {
		c := name[i]
		ok = isLetter(c) || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
	}
	if !ok {
		return &NameError{Name: name}
	}
	return nil
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isID reports whether a word has the form of a session's or an adapter's id, which no name may
// have.
func isID(word string) bool {
	if len(word) < 2 || word[0] < 'a' || word[0] > 'z' {
		return false
	}
	for i := 1; i < len(word); i++ {
		if word[i] < '0' || word[i] > '9' {
			return false
		}
	}
	return true
}

// newer reports whether id a was assigned after b.
func newer(a, b ID) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

// names finds sessions by their names. Guarded by Engine.mu.
type names struct {
	starting  map[string]bool       // of sessions that are being started
	sessions  map[string][]*Session // in the registry, by creation: all but the last have ended
	forgotten map[string]ID         // the newest of that name that was forgotten
}

// take reserves a name for a session that is about to be started.
func (n *names) take(name string) error {
	if name == "" {
		return nil
	}
	if n.starting[name] {
		return &NameTakenError{Name: name}
	}
	if all := n.sessions[name]; len(all) > 0 {
		if last := all[len(all)-1]; !last.exited.Load() {
			return &NameTakenError{Name: name, Session: last.id}
		}
	}
	if n.starting == nil {
		n.starting, n.sessions, n.forgotten = map[string]bool{}, map[string][]*Session{},
			map[string]ID{}
	}
	n.starting[name] = true
	return nil
}

// settle ends a reservation; s is nil when nothing was started.
func (n *names) settle(name string, s *Session) {
	if name == "" {
		return
	}
	delete(n.starting, name)
	if s != nil {
		n.sessions[name] = append(n.sessions[name], s)
	}
}

// remove drops a session that leaves the registry.
func (n *names) remove(s *Session) {
	name := s.config.Name
	if name == "" {
		return
	}
	left := slices.DeleteFunc(n.sessions[name], func(x *Session) bool { return x == s })
	if n.sessions[name] = left; len(left) == 0 {
		delete(n.sessions, name)
	}
}

// bury keeps the name of a session that was forgotten.
func (n *names) bury(gone *ForgottenError) {
	if gone.Name != "" &&
		(n.forgotten[gone.Name] == "" || newer(gone.Session, n.forgotten[gone.Name])) {
		n.forgotten[gone.Name] = gone.Session
	}
}

// unbury drops what was kept of a forgotten session.
func (n *names) unbury(gone *ForgottenError) {
	if gone.Name != "" && n.forgotten[gone.Name] == gone.Session {
		delete(n.forgotten, gone.Name)
	}
}

// resolve returns the id of the session that a name means: the running one, or else the newest that
// has ended. An id, and an unknown name, are returned as they are.
func (n *names) resolve(name ID) ID {
	if isID(string(name)) {
		return name
	}
	id := n.forgotten[string(name)]
	if all := n.sessions[string(name)]; len(all) > 0 {
		if last := all[len(all)-1].id; id == "" || newer(last, id) {
			id = last
		}
	}
	if id == "" {
		return name
	}
	return id
}

// Resolve returns the id of the session that a name means, as [Engine.Session] finds it. An id, and
// an unknown name, are returned as they are.
func (e *Engine) Resolve(name ID) ID {
	if isID(string(name)) {
		return name
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.names.resolve(name)
}
