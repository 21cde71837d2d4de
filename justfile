# Every recipe is plain commands that also work without just.

# what CI runs
check:
    .ci/run

# the tests, without the race detector
test:
    go test ./...

# the tests, with it
race:
    go test -race ./...

# each fuzz target for a while: just fuzz 10m
fuzz time="30s":
    for p in $(go list ./...); do for f in $(go test -list '^Fuzz' "$p" | grep '^Fuzz'); do go test -run '^$' -fuzz "^$f\$" -fuzztime {{time}} "$p" || exit 1; done; done

# the table that docs/performance.md quotes
bench:
    go run ./bench

# vet and build for every platform
cross:
    for os in linux darwin windows; do for arch in amd64 arm64; do GOOS=$os GOARCH=$arch CGO_ENABLED=0 go vet ./... && GOOS=$os GOARCH=$arch CGO_ENABLED=0 go build ./... || exit 1; done; done

# the archives of a release and their sums, in dist: the same bytes wherever it runs
release:
    go run ./release

# the pictures of the docs, from what the program does today; look at them before you commit them
pictures:
    PTYWRIGHT_PICTURES=1 PTYWRIGHT_TOOLCHAINS=1 go test -count=1 -run '^TestPictures$' ./cmd/ptywright
    go run ./bench/chart

# the manual pages, to look at: man ./man/ptywright.1
man:
    go run ./cmd/ptywright man man

# the README's commands as a newcomer has them: a root with a shell and Go alone, an empty home
newcomer:
    PTYWRIGHT_LONG=1 go test -v -run '^TestNewcomer$' ./cmd/ptywright
