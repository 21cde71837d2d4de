// Package instance (no stability promise) is the folder by which the named servers of one user find
// each other, in the form that Unterm's clients know:
//
//	instances/alpha.json   one server's record, there from its first moment to its last
//	active.json            a copy of the record of the active server
//	server.json            the same, under the name that older clients read
//	auth_token             the token of the active server, without a line feed
//
// A server binds its port with [Listen], then takes a name with [Claim], and gives it back with [Instance.Close].
// Clients look with [List] and [Active], and end a server with [Stop].
//
// # Who is active
//
// The first server. The pointers move only when the active one has quit or died: then to the live one that was started
// last. A server that starts never takes them from one that lives. Pointers are mended by whoever looks: Claim, List,
// [Instance.Record] and Close; and on Linux by every live server as soon as the active one dies, without being asked.
//
// # Who is alive
//
// A record is believed when its pid is a process that was started at the moment, and since the boot, that the record
// says. So a pid that has come to mean another process, a machine that was rebooted, and a file that somebody made up are
// seen through. Records without these fields, as Unterm writes them, have to be plausible instead; see [Record.Alive].
// What the system does not let us look at counts as alive: a live server's file is never deleted on a guess.
//
// # What a reader sees
//
// Every file is whole at every moment: a record is written to a file of another name, and then linked or renamed to its
// own. All who write hold the lock on the file instances.lock, for milliseconds; readers take no lock. Nothing is flushed
// to the disk: after a power failure the records are of no use anyway, and a file that it cut off is taken for free.
//
// A root belongs to one user, one machine, and one pid namespace. Those who share it over a network file system or with a
// container take each other for dead.
//
// The package knows no wire and starts no server.
package instance
