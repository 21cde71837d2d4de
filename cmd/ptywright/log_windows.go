package main

// nonblock is not needed: files do not wait.
const nonblock = 0
