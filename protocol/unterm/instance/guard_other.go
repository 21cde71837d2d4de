//go:build !linux

package instance

// guard is nothing here: the pointers are mended when somebody looks.
type guard struct{}

func startGuard(*Instance) *guard { return nil }

func (*guard) stop() {}
