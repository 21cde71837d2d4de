#!/bin/sh
# Picks a branch with fzf, and says which.
branch=$(printf '%s\n' main develop feature/login feature/search fix/typo |
  fzf --no-unicode --prompt 'branch> ' --header 'Enter switches, Escape does not' --height 100%) || {
  echo 'nothing was picked'
  exit 1
}
echo "on $branch"
