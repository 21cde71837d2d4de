package vt

// For the tests in package vt_test, which may import what imports this package.

// ReadArchive reads a gzipped txtar archive.
var ReadArchive = readArchive
