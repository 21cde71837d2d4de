package native

import (
	"reflect"
	"testing"
)

// TestEveryReadIsBound: what says how it is redacted has its redactor before its handler runs, and
// shows nothing without one.
func TestEveryReadIsBound(t *testing.T) {
	checked := 0
	for _, r := range table {
		if _, redacts := r.params.FieldByName("Redact"); !redacts {
			continue
		}
		checked++
		if _, ok := reflect.New(r.params).Interface().(interface{ bind(*client) error }); !ok {
			t.Errorf("the params of %s are not bound", r.name)
		}
	}
	if checked < 15 {
		t.Errorf("only %d methods say how they are redacted", checked)
	}
	defer func() {
		if recover() == nil {
			t.Error("params that were not bound show everything")
		}
	}()
	new(readParams).redactor()
}
