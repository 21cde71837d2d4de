package protocol

// Narrow makes refuse judge each request that starts from now on, in every dialect of the
// connection, by its method's name: an error is the request's answer, and the method is not called.
// Requests that have started continue. Narrowing cannot be undone: several functions are asked in
// the order in which they were added. refuse is called from several goroutines and must not block.
// It is not asked about `$/cancelRequest`.
func (c *Conn) Narrow(refuse func(method string) error) {
	for {
		old := c.refusals.Load()
		all := []func(string) error{refuse}
		if old != nil {
			all = append((*old)[:len(*old):len(*old)], refuse)
		}
		if c.refusals.CompareAndSwap(old, &all) {
			return
		}
	}
}

// refused returns why a request must not start; nil when it may.
func (c *Conn) refused(method string) error {
	all := c.refusals.Load()
	if all == nil {
		return nil
	}
	for _, refuse := range *all {
		if err := refuse(method); err != nil {
			return err
		}
	}
	return nil
}
