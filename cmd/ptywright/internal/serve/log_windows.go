package serve

// nonblock is not needed: opening a file does not wait.
const nonblock = 0
