#!/bin/sh
# A program with a screen to test, for golden.tape.
failing=none

step() {
	if [ "$1" = "$failing" ]; then
		printf ' \033[31m✗ %-8s\033[0m %s\n' "$1" failed
	else
		printf ' \033[32m✓\033[0m %-8s %s\n' "$1" "$2"
	fi
}

printf '\033[?25l\033[1mrelease 1.4.0\033[0m\n\n'
step build 'in 3 s'
step test '412 passed'
step sign 'by release@example.org'
printf '\n \033[7m publish \033[0m  cancel\n'
read -r _
