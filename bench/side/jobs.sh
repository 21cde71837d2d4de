#!/usr/bin/env bash
# The jobs of the side-by-side table, with tmux: jobs.sh JOB ARGUMENTS. What a job finds out it prints,
# the shell's commands each as its exit code and its output between two lines of their own. The lines
# between two marks are what the table counts.
set -euo pipefail

# [tmux shell vim ready fzf
t() { tmux -L "side$$" -f /dev/null "$@"; }
trap 't kill-server 2>/dev/null || true' EXIT
screen() { t capture-pane -p -J -t s; }
until_screen() { # polls: tmux has no wait for what is on the screen
  for _ in $(seq 6000); do
    screen 2>/dev/null | grep -Eq "$1" && return
    sleep 0.01
  done
  return 1
}
# ]

job=$1
shift
case $job in
shell)
  # [tmux shell
  t new-session -d -s s -x 200 -y 50 "PS1= bash --norc --noprofile"
  t set-option -t s history-limit 20000
  t send-keys -t s -l "stty -echo; PS1=; tmux -L side$$ wait-for -S ready" && t send-keys -t s Enter
  t wait-for ready
  n=0
  for command in "$@"; do
    n=$((n + 1))
    t send-keys -t s -l "clear; tmux -L side$$ clear-history; $command" && t send-keys -t s Enter
    t send-keys -t s -l "code=\$?; echo; echo \"<\$code>\"; tmux -L side$$ wait-for -S done$n" && t send-keys -t s Enter
    t wait-for "done$n"
    t capture-pane -p -J -S - -t s
    echo "--$n--"
  done
  # ]
  ;;
vim)
  # [tmux vim
  t new-session -d -s s -x 80 -y 24 vim -u NONE -n "$1"
  until_screen '^~'
  t send-keys -t s -l Ohello
  t send-keys -t s Escape
  until_screen '^hello'
  t send-keys -t s -l :wq
  t send-keys -t s Enter
  while t has-session -t s 2>/dev/null; do sleep 0.01; done
  # ]
  ;;
ready)
  # [tmux ready
  t new-session -d -s s -x 80 -y 24 "$@"
  until_screen 'listening on [0-9]+$'
  until [ "$(t display-message -p -t s '#{cursor_y}')" -gt 0 ]; do sleep 0.01; done # the line is whole
  screen | sed -n 's/.*listening on //p'
  # ]
  ;;
fzf)
  # [tmux fzf
  t new-session -d -s s -x 80 -y 24 "$@"
  until_screen 3/3
  t send-keys -t s -l ban
  until_screen 1/3
  t send-keys -t s Enter
  until_screen 'chosen [a-z]+'
  screen | sed -n 's/.*chosen //p'
  # ]
  ;;
esac
