package main

import (
	"cmp"
	"regexp"
	"strings"
)

// tagged is a version as tags and git describe have it: v1.2.3, v1.2.3-rc.1, v1.2.3-4-gabcdef.
var tagged = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)(?:-(.+))?$`)

var (
	early = regexp.MustCompile(`^(alpha|beta|rc)\.?(\d+)$`)
	later = regexp.MustCompile(`^(\d+)-g([0-9a-f]+)(-dirty)?$`)
	parts = regexp.MustCompile(`[^0-9A-Za-z]+`)
)

// versions are a version as each kind of package writes it, so that each sorts it rightly: an early
// version before its release, and a build of a later commit behind it. A build without a tag is
// before every release.
type versions struct{ python, npm, debian string }

func versionsOf(version string) versions {
	base, rest := "0.0.0", version
	if m := tagged.FindStringSubmatch(version); m != nil {
		base, rest = m[1], m[2]
	} else {
		build := plain("g"+rest, ".") // with a letter in front: a hash of digits alone would be a number
		return versions{base + "+" + build, base + "-" + build, base + "~" + build}
	}
	if rest == "" {
		return versions{base, base, base}
	}
	if m := early.FindStringSubmatch(rest); m != nil {
		short := map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[1]]
		return versions{base + short + m[2], base + "-" + m[1] + "." + m[2],
			base + "~" + m[1] + m[2]}
	}
	if m := later.FindStringSubmatch(rest); m != nil {
		commit := "g" + m[2] + cmp.Or(strings.Replace(m[3], "-", ".", 1), "")
		// npm has nothing between a release and the next, so this is an early version of that.
		return versions{base + ".post" + m[1] + "+" + commit,
			next(base) + "-0." + m[1] + "." + commit, base + "+" + m[1] + "." + commit}
	}
	return versions{base + "+" + plain(rest, "."), base + "-" + plain(rest, "."),
		base + "~" + plain(rest, ".")}
}

// plain keeps letters and digits, and puts a separator for all else.
func plain(s, separator string) string {
	return strings.Trim(parts.ReplaceAllString(s, separator), separator)
}

// next is the version whose last number is one more.
func next(base string) string {
	i := strings.LastIndexByte(base, '.') + 1
	digits := []byte(base[i:])
	for j := len(digits) - 1; j >= 0; j-- {
		if digits[j]++; digits[j] <= '9' {
			return base[:i] + string(digits)
		}
		digits[j] = '0'
	}
	return base[:i] + "1" + string(digits)
}
