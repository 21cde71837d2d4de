package engine

import "fmt"

// MaxTags is how many tags a session may have, and MaxTag how long each may be, in bytes: enough to
// sort sessions by, and a list of all of them stays readable.
const (
	MaxTags = 16
	MaxTag  = 64
)

// TagRule describes a valid tag, for errors and descriptions.
const TagRule = "1 to 64 of lower-case letters, digits, '.', '_' and '-'"

// A TagError is about the tags of a session that cannot be.
type TagError struct {
	Index int    // of the first that is wrong; -1: there are too many
	Tag   string // as requested
	Count int    // how many were requested
}

func (e *TagError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("%d tags are too many: a session has %d at most", e.Count, MaxTags)
	}
	return fmt.Sprintf("%s cannot be a tag: give %s", Quote(e.Tag), TagRule)
}

// CheckTags checks the tags of a session against [TagRule] and their number. The error is a
// *[TagError].
func CheckTags(tags []string) error {
	if len(tags) > MaxTags {
		return &TagError{Index: -1, Count: len(tags)}
	}
	for i, tag := range tags {
		if !isTag(tag) {
			return &TagError{Index: i, Tag: tag, Count: len(tags)}
		}
	}
	return nil
}

func isTag(tag string) bool {
	for i := range len(tag) {
		c := tag[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return tag != "" && len(tag) <= MaxTag
}
