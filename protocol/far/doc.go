// Package far (no stability promise) shows the sessions of other machines beside this server's own:
// the session s12 of the host web-3 is web-3/s12 here. [New] puts a [Hub] in front of a dialect.
//
// A host is a stream that speaks the native wire, such as the standard streams of
// `ssh web-3 ptywright relay`. Requests that name one of its ids are sent there without the prefix,
// as they are otherwise; ids in answers, errors and notifications get it back. Where ids are, the
// model of the wire says: see [ReadModel].
//
// # One link a client and host
//
// A client's first request for a host opens a link of its own, and the next client takes over a
// link that has become free. Leases, subscriptions, the rights and the owner of a session belong to
// a connection on the wire, so a link that clients shared would need all of that a second time
// here. The far server orders the requests of a link as the client has asked for, since only it
// knows which name, adapter and id are the same session; this side queues what has the same id.
//
// # When a link ends
//
// It is opened again, after 0.1 s, then twice as long each time up to 10 s. What only reads is
// asked again. A wait is asked again from its beginning and latched, so that it finds what held in
// between. Input is sent again only with an id, which the far server types once. Everything else is
// answered with [LostError], which says that nobody knows whether it was done.
//
// # Goroutines
//
//	remote.open      opens links and watches one        from a request until nobody needs the link
//	remote.forward   passes notifications on            with the first link; until the client's end
//	link.read        reads a link                       until the link's end
//	link.write       writes to it                       until the link's end
//
// Nothing here trusts a host: its messages are capped before memory is taken, its ids cannot name
// another host's sessions, it can answer only what it was asked, and whatever it does wrong ends
// its link with an error that names it.
package far
