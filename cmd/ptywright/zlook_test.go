//go:build unix

package main

import (
	"testing"

	"github.com/ptywright/ptywright/protocol/client"
)

func TestZLook(t *testing.T) {
	b := chromium(t)
	w := watchedServer(t)
	home := t.TempDir()
	env := map[string]string{"HOME": home, "HISTFILE": ""}
	htop := w.with(client.Config{Program: "htop", Env: env, Rows: 30, Cols: 100})
	mc := w.with(client.Config{Program: "mc", Env: env, Rows: 24, Cols: 80})
	w.with(client.Config{Program: "vim", Args: []string{"-u", "NONE", "-c", "syntax on", "-c", "set number mouse=a", "../../engine/vt/cell.go"}, Env: env})
	sgr := w.sh(`printf '\033]0;Every style\007'; for i in 1 2 3 4 9 53; do printf "\033[${i}mstyle $i\033[0m "; done; printf '\n\033[4:2mdouble\033[0m \033[4:3mcurly\033[0m \033[4:4mdotted\033[0m \033[4:5mdashed\033[0m \033[4:3;58:2::255:0:0mred curl\033[0m \033[7minverse\033[0m \033[2mdim\033[0m \033[5mblink\033[0m\n'; for i in 0 1 2 3 4 5 6 7; do printf "\033[3${i}m 3$i \033[9${i}m 9$i \033[4${i}m 4$i \033[10${i}m 10$i \033[0m"; done; printf '\n'; i=16; while [ $i -lt 256 ]; do printf "\033[48;5;${i}m  "; i=$((i+1)); [ $((i%36)) = 16 ] && printf '\033[0m\n'; done; printf '\033[0m\n'; i=0; while [ $i -lt 76 ]; do printf "\033[48;2;$((i*3));$((255-i*3));128m "; i=$((i+1)); done; printf '\033[0m\n日本語 中文 한국어 |ends\n👍🏽 👨‍👩‍👧 🇩🇪 é |ends\n┌─┬─┐ ╔═╦═╗ ▁▂▃▄▅▆▇█\n│a│b│ ║x║y║ ░▒▓█▓▒░\n└─┴─┘ ╚═╩═╝ ⠁⠃⠇⡇⣇⣧⣷⣿\n\033]8;;https://example.com/x\033\\a link\033]8;;\033\\ end'; sleep 1000`)
	done := w.sh("echo bye; exit 3")
	lease := w.create("bash", "--norc")
	if err := w.Call(w.ctx, "session.lease", map[string]any{"session": lease.ID, "holder": "claude-code agent"}, nil); err != nil {
		t.Fatal(err)
	}
	done.exited()
	mc.wait(client.Screen("Quit"))
	htop.wait(client.Screen("CPU"))
	p := b.open(w.address)
	p.until(`document.querySelectorAll('.tile .pill').length >= 2`)
	p.until(`document.querySelector('.tile .screen').textContent.includes('CPU')`)
	p.until(`[...document.querySelectorAll('.tile .screen')].every((s) => s.textContent.trim())`)
	for _, scheme := range []string{"dark", "light"} {
		p.do("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": scheme}}}, nil)
		p.eval(`location.hash = '#/'`)
		p.until(`document.querySelectorAll('.tile .row').length > 50`)
		p.eval(`new Promise((r) => setTimeout(r, 700))`)
		p.shot("look-grid-" + scheme)
		for name, s := range map[string]*session{"htop": htop, "sgr": sgr, "mc": mc} {
			p.eval(`location.hash = '#/session/` + s.ID + `'`)
			p.until(screenText + `.length > 100 && document.querySelector('#term-status').textContent.includes('Nobody')`)
			if name == "mc" {
				p.click("#term-take")
				p.until(`document.querySelector('#term-take').textContent === 'Release'`)
				p.click("#term-keys")
			}
			p.eval(`new Promise((r) => setTimeout(r, 300))`)
			p.shot("look-" + name + "-" + scheme)
		}
	}
	p.do("Emulation.setDeviceMetricsOverride", map[string]any{"width": 420, "height": 800, "deviceScaleFactor": 2, "mobile": false}, nil)
	p.eval(`new Promise((r) => setTimeout(r, 500))`)
	p.shot("look-phone-term")
	p.eval(`location.hash = '#/'`)
	p.eval(`new Promise((r) => setTimeout(r, 500))`)
	p.shot("look-phone")
	b.quiet()
}
