package engine

import (
	"reflect"
	"time"
	"unsafe"
)

// SecretLine is for the tests.
type SecretLine = secretLine

// Feed is what the pump does with a batch.
func (s *Session) Feed(p []byte, now time.Time) { s.feed(p, now) }

// PastBytes is what the session keeps of its past, in bytes, as found by following every pointer.
func (s *Session) PastBytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.past == nil {
		return 0
	}
	return deepSize(reflect.ValueOf(s.past).Elem(), make(map[uintptr]bool))
}

// HistoryBytes is the bound of that.
func (s *Session) HistoryBytes() int { return s.past.most }

// deepSize is what v points to, in bytes, without itself; what was seen counts once. The shell's
// start is shared by the whole session.
func deepSize(v reflect.Value, seen map[uintptr]bool) (n int) {
	switch v.Kind() {
	case reflect.Pointer:
		shared := v.Type() == reflect.TypeFor[*time.Location]() || v.Type() == reflect.TypeFor[*shellStart]()
		if v.IsNil() || shared || seen[v.Pointer()] {
			return 0
		}
		seen[v.Pointer()] = true
		return int(v.Type().Elem().Size()) + deepSize(v.Elem(), seen)
	case reflect.String:
		if p := uintptr(unsafe.Pointer(unsafe.StringData(v.String()))); !seen[p] {
			seen[p] = true
			return v.Len()
		}
	case reflect.Slice:
		if v.Cap() == 0 || seen[v.Pointer()] {
			return 0
		}
		seen[v.Pointer()] = true
		n = v.Cap() * int(v.Type().Elem().Size())
		for i := range v.Len() {
			n += deepSize(v.Index(i), seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += deepSize(v.Field(i), seen)
		}
	case reflect.Map, reflect.Interface:
		panic("deepSize: " + v.Type().String())
	}
	return n
}

// Keyframes is how many there are.
func (s *Session) Keyframes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.past.frames)
}
