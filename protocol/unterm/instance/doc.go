// Package instance (no stability promise) is the folder in which the named servers of one user find
// each other, in the form that Unterm's clients know:
//
//	instances/alpha.json   one server's record, there from its first moment to its last
//	active.json            a copy of the record of the active server
//	server.json            the same, under the name that older clients read
//	auth_token             the token of the active server, without a line feed
//
// A server binds its port with [Listen], then takes a name with [Claim], and gives it back with
// [Instance.Close]. Clients look with [List] and [Active], and end a server with [Stop].
//
// # Who is active
//
// The first server. The pointers move only when the active one has quit or died: then to the live
// one that was started last. A starting server never takes them from a live one. Claim, List,
// [Instance.Record] and Close repair the pointers; and on Linux every live server does as soon as
// the active one dies.
//
// # Who is alive
//
// A record is believed when its pid is a process that was started at the time, and since the boot,
// that the record has. This detects reused pids, rebooted machines and forged files. Records
// without these fields, as Unterm writes them, have to be plausible instead; see [Record.Alive]. A
// process that the system does not let us inspect counts as alive: a live server's file is never
// deleted on a guess.
//
// # What a reader sees
//
// Every file is complete at every moment: a record is written to a file of another name, and then
// linked or renamed. All writers hold the lock on the file instances.lock, for milliseconds;
// readers take no lock. Nothing is flushed to the disk: after a power failure the records are
// useless anyway, and a truncated file counts as free.
//
// A root belongs to one user, one machine, and one pid namespace. Servers that share it over a
// network file system or with a container take each other for dead.
//
// The package knows no wire and starts no server.
package instance
