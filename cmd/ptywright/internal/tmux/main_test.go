//go:build unix

package tmux_test

import (
	"testing"

	"github.com/ptywright/ptywright/cmd/ptywright/internal/app"
	"github.com/ptywright/ptywright/cmd/ptywright/internal/programtest"
)

// root is the repository's folder, seen from this package.
const root = "../../../.."

func TestMain(m *testing.M) { programtest.Main(m, app.Main) }
