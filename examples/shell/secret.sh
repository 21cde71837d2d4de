#!/bin/sh
# Waits for a program that asks for a password, types it from standard input, and reads the screen: what was typed shows
# nowhere, not even where the program prints it. Then the same screen as it really is.
#
#   echo 'open sesame' | sh secret.sh
set -eu

id=$(ptywright spawn -- sh -c '
  stty -echo; printf "Password: "; read -r password; stty echo
  printf "\nlogged in with %s\n" "$password"; read -r _')
trap 'ptywright kill --close "$id"' EXIT

ptywright wait "$id" --text 'Password:'
before=$(ptywright send "$id" --file -) # its line feed is Enter to a shell
ptywright wait "$id" --since "$before" --text 'logged in'
ptywright read "$id"
ptywright read "$id" --no-redact
