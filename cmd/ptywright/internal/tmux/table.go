package tmux

import (
	"context"
	"slices"
	"strings"
)

// A spec says how a command is written and what does it.
type spec struct {
	name, short string
	flags       string // as [parse] takes them
	least, most int    // arguments
	starts      bool   // the server, if there is none
	writes      bool   // it changes the state
	bare        bool   // it connects by itself
	run         func(context.Context, *tmux, *args) error
	why         string // there is no run
}

// none does nothing: what the command is about does not exist without a person's terminal.
func none(context.Context, *tmux, *args) error { return nil }

const (
	onePane  = "a window has one pane"
	noPerson = "it needs a terminal that is attached"
)

// commands are all commands of tmux.
func commands() []spec {
	return []spec{
		{name: "attach-session", short: "attach", flags: "c:dEf:rt:x", run: attachSession},
		{name: "bind-key", short: "bind", flags: "nrN:T:", most: -1, run: none},
		{name: "break-pane", short: "breakp", why: onePane},
		{name: "capture-pane", short: "capturep", flags: "ab:CeE:JMNpPqS:Tt:", run: capturePane},
		{name: "choose-buffer", why: noPerson},
		{name: "choose-client", why: noPerson},
		{name: "choose-tree", why: noPerson},
		{name: "clear-history", short: "clearhist", flags: "Ht:", writes: true, run: clearHistory},
		{name: "clear-prompt-history", short: "clearphist", flags: "T:", run: none},
		{name: "clock-mode", why: noPerson},
		{name: "command-prompt", why: noPerson},
		{name: "confirm-before", short: "confirm", why: noPerson},
		{name: "copy-mode", flags: "deHMs:t:uq", run: none},
		{name: "customize-mode", why: noPerson},
		{name: "delete-buffer", short: "deleteb", flags: "b:", writes: true, run: deleteBuffer},
		{name: "detach-client", short: "detach", flags: "aE:s:t:P", run: none},
		{name: "display-menu", short: "menu", why: noPerson},
		{name: "display-message", short: "display", flags: "ac:d:INpt:F:v", most: 1,
			run: displayMessage},
		{name: "display-popup", short: "popup", why: noPerson},
		{name: "display-panes", short: "displayp", why: noPerson},
		{name: "find-window", short: "findw", why: noPerson},
		{name: "has-session", short: "has", flags: "t:", run: hasSession},
		{name: "if-shell", short: "if", why: "say it in the shell"},
		{name: "join-pane", short: "joinp", why: onePane},
		{name: "kill-pane", short: "killp", flags: "at:", writes: true, run: killWindow},
		{name: "kill-server", bare: true, run: killServer},
		{name: "kill-session", flags: "aCt:", writes: true, run: killSession},
		{name: "kill-window", short: "killw", flags: "at:", writes: true, run: killWindow},
		{name: "last-pane", short: "lastp", flags: "det:Z", run: none},
		{name: "last-window", short: "last", why: "name the window: select-window -t"},
		{name: "link-window", short: "linkw", why: "a window belongs to one session"},
		{name: "list-buffers", short: "lsb", flags: "F:f:", run: listBuffers},
		{name: "list-clients", short: "lsc", flags: "F:t:", run: none},
		{name: "list-commands", short: "lscm", flags: "F:", most: 1, bare: true, run: listCommands},
		{name: "list-keys", short: "lsk", flags: "1aNP:T:", most: 1, run: none},
		{name: "list-panes", short: "lsp", flags: "aF:f:st:", run: listPanes},
		{name: "list-sessions", short: "ls", flags: "F:f:", run: listSessions},
		{name: "list-windows", short: "lsw", flags: "F:f:at:", run: listWindows},
		{name: "load-buffer", short: "loadb", flags: "b:t:w", least: 1, most: 1, writes: true,
			run: loadBuffer},
		{name: "lock-client", short: "lockc", flags: "t:", run: none},
		{name: "lock-server", short: "lock", run: none},
		{name: "lock-session", short: "locks", flags: "t:", run: none},
		{name: "move-pane", short: "movep", why: onePane},
		{name: "move-window", short: "movew", why: "a window keeps its index"},
		{name: "new-session", short: "new", flags: "Ac:dDe:EF:f:n:Ps:t:x:Xy:", most: -1,
			starts: true, writes: true, run: newSession},
		{name: "new-window", short: "neww", flags: "abc:de:F:kn:PSt:", most: -1, writes: true,
			run: newWindow},
		{name: "next-layout", short: "nextl", flags: "t:", run: none},
		{name: "next-window", short: "next", why: "name the window: select-window -t"},
		{name: "paste-buffer", short: "pasteb", flags: "db:prs:t:", writes: true, run: pasteBuffer},
		{name: "pipe-pane", short: "pipep", flags: "IOot:", most: 1, writes: true, run: pipePane},
		{name: "previous-layout", short: "prevl", flags: "t:", run: none},
		{name: "previous-window", short: "prev", why: "name the window: select-window -t"},
		{name: "refresh-client", short: "refresh", flags: "A:B:cC:Df:F:l:LRSt:U", most: 1,
			run: none},
		{name: "rename-session", short: "rename", flags: "t:", least: 1, most: 1, writes: true,
			run: renameSession},
		{name: "rename-window", short: "renamew", flags: "t:", least: 1, most: 1, writes: true,
			run: renameWindow},
		{name: "resize-pane", short: "resizep", flags: "DLMRTt:Ux:y:Z", most: 1, run: resizePane},
		{name: "resize-window", short: "resizew", flags: "aADLRt:Ux:y:", most: 1,
			run: resizeWindow},
		{name: "respawn-pane", short: "respawnp", flags: "c:e:kt:", most: -1, writes: true,
			run: respawn},
		{name: "respawn-window", short: "respawnw", flags: "c:e:kt:", most: -1, writes: true,
			run: respawn},
		{name: "rotate-window", short: "rotatew", flags: "Dt:UZ", run: none},
		{name: "run-shell", short: "run", flags: "bd:Ct:", most: 1, run: runShell},
		{name: "save-buffer", short: "saveb", flags: "ab:", least: 1, most: 1, run: saveBuffer},
		{name: "select-layout", short: "selectl", flags: "Enopt:", most: 1, run: none},
		{name: "select-pane", short: "selectp", flags: "DdegLlMmP:RT:t:UZ", writes: true,
			run: selectPane},
		{name: "select-window", short: "selectw", flags: "lnpTt:", writes: true, run: selectWindow},
		{name: "send-keys", short: "send", flags: "FHKlMN:Rt:X", most: -1, run: sendKeys},
		{name: "send-prefix", flags: "2t:", why: "there is no prefix key"},
		{name: "server-access", flags: "adlrw", most: 1, why: "the server is its user's alone"},
		{name: "set-buffer", short: "setb", flags: "ab:t:n:w", most: 1, writes: true,
			run: setBuffer},
		{name: "set-environment", short: "setenv", flags: "Fhgrt:u", least: 1, most: 2,
			writes: true, run: setEnvironment},
		{name: "set-hook", flags: "agpRt:uw", most: -1, run: none},
		{name: "set-option", short: "set", flags: "aFgopqst:uUw", least: 1, most: 2, writes: true,
			run: setOption},
		{name: "set-window-option", short: "setw", flags: "aFgoqt:u", least: 1, most: 2,
			writes: true, run: setOption},
		{name: "show-buffer", short: "showb", flags: "b:", run: showBuffer},
		{name: "show-environment", short: "showenv", flags: "hgst:", most: 1, run: showEnvironment},
		{name: "show-hooks", flags: "gpt:w", most: 1, run: none},
		{name: "show-messages", short: "showmsgs", flags: "JTt:", run: none},
		{name: "show-options", short: "show", flags: "AgHpqst:vw", most: 1, run: showOptions},
		{name: "show-prompt-history", short: "showphist", flags: "T:", run: none},
		{name: "show-window-options", short: "showw", flags: "gvt:", most: 1, run: showOptions},
		{name: "source-file", short: "source", flags: "nqvF", most: -1, run: none},
		{name: "split-window", short: "splitw", why: onePane + "; new-window makes another"},
		{name: "start-server", short: "start", starts: true, run: none},
		{name: "suspend-client", short: "suspendc", flags: "t:", run: none},
		{name: "swap-pane", short: "swapp", why: onePane},
		{name: "swap-window", short: "swapw", why: "a window keeps its index"},
		{name: "switch-client", short: "switchc", why: noPerson},
		{name: "unbind-key", short: "unbind", flags: "anqT:", most: -1, run: none},
		{name: "unlink-window", short: "unlinkw", why: "a window belongs to one session"},
		{name: "wait-for", short: "wait", flags: "LSU", least: 1, most: 1, bare: true,
			run: waitFor},
	}
}

// lookup finds a command by its name, its short name, or the beginning of one name only.
func lookup(name string) (*spec, error) {
	var found []*spec
	all := commands()
	for i := range all {
		s := &all[i]
		if s.name == name || s.short == name {
			return s, nil
		}
		if strings.HasPrefix(s.name, name) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, failf("unknown command: %s", name)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, s := range found {
		names = append(names, s.name)
	}
	slices.Sort(names)
	return nil, failf("ambiguous command: %s, could be: %s", name, strings.Join(names, ", "))
}

// listCommands names the commands that there are.
func listCommands(_ context.Context, t *tmux, _ *args) error {
	for _, s := range commands() {
		if s.run == nil {
			continue
		}
		line := s.name
		if s.short != "" {
			line += " (" + s.short + ")"
		}
		if err := t.print(line); err != nil {
			return err
		}
	}
	return nil
}
