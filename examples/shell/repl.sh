#!/bin/sh
# Drives Python's prompt: waits for it, types, and waits for what came after. Then a wait that cannot match, to show what such a
# wait tells.
#
#   sh repl.sh
set -eu

id=$(ptywright spawn -- python3 -q)
trap 'ptywright kill --close "$id"' EXIT
ptywright wait "$id" --text '>>>' >/dev/null

before=$(ptywright send "$id" '6 * 7' --enter)
echo "python says $(ptywright wait "$id" --since "$before" --regex '(?m)^(\d+)$')"

code=0
ptywright wait "$id" --text 43 --timeout 100ms || code=$? # what it lacked, and the last screen
echo "exit code $code"
