# Shows each line that it reads for a moment, in the way that its first word says, and then that it
# has done so.
stty -echo; flood=0123456789abcdef; flood=$flood$flood$flood$flood
printf 'ready\n'
while read -r how what; do
	case $how in
	one) printf '\033[H%s\033[2J' "$what" ;;
	two) printf '\033[H%s' "$what"; printf '\033[2J' ;;
	over) printf '\033[H%s\r%-40s' "$what" x ;;
	flood)
		i=0; while [ $i -lt 40 ]; do printf '%s\r\n' $flood; i=$((i+1)); done
		printf '\033[H%s\033[2J' "$what"
		i=0; while [ $i -lt 40 ]; do printf '%s\r\n' $flood; i=$((i+1)); done ;;
	alternate) printf '\033[?1049h%s\033[?1049l' "$what" ;;
	update) printf '\033[?2026h\033[H%s\033[2J\033[?2026l' "$what" ;;
	esac
	printf '\033[Hdone %s.\033[K' "${what#<}"
done
