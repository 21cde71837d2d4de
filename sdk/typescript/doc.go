// Package typescript (no stability promise) holds the TypeScript SDK, @ptywright/sdk: its sources
// are in src, written by hand but for wire.ts and reasons.ts, which sdk/gen writes. The Go in this
// folder is its tests. They build the package as a release does, with tsc into dist, and use it as
// a project that installed it would; the compiler and what else comes from npm is installed by
// .ci/npm.
package typescript
