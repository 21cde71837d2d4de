package caller

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	env, untold, err := Environment([]string{"A=1", "B=", "C=x=y", "TERM=dumb", "PTYWRIGHT_HOME=/h", "LATIN=\xe9", "N\xff=1", "odd", "=C:=1"})
	if want := map[string]string{"A": "1", "B": "", "C": "x=y"}; err != nil || !reflect.DeepEqual(env, want) || !reflect.DeepEqual(untold, []string{"LATIN", "N\xff"}) {
		t.Errorf("%q, %q, %v", env, untold, err)
	}
	var large *LargeError
	for _, huge := range []string{strings.Repeat("x", MaxEnvironment), strings.Repeat("\x01", MaxEnvironment/6)} {
		if _, _, err := Environment([]string{"HUGE=" + huge}); !errors.As(err, &large) || large.Bytes <= MaxEnvironment || strings.Contains(err.Error(), "xxx") {
			t.Errorf("%.200v", err)
		}
	}
	if _, _, err := Environment([]string{"HUGE=" + strings.Repeat("x", MaxEnvironment-100)}); err != nil {
		t.Error(err)
	}
}
