// Package broker lets a child that may make no socket reach the hosts its phase declares, and no other.
//
// Parent and child share a pair of sockets. The child names a host and a port; the parent looks it up among the declared
// hosts, resolves it, refuses every address that is not public, dials the very address it has checked, and passes the
// connected descriptor back. The child speaks TLS over it itself, so the parent sees no content and holds no key.
//
// The threat on the one side is a taken-over child that asks for what it likes, in whatever bytes, as fast as it can; on
// the other a name whose addresses change between two lookups, or point into the parent's own network. A redirect is a
// new request to the broker like any other.
//
// Not promised: that a declared host is harmless, or that it is the host it says (that is TLS); anything about what the
// child sends there. A connection in the child's hands stays usable until one side closes it.
//
// # Wire
//
// One packet a request and one a reply, on a SOCK_SEQPACKET pair. A request is at most 512 bytes and exactly
//
//	{"host":"api.github.com","port":443}
//
// with no other spelling: decoded and encoded again it must give the same bytes. A reply is {"ok":true} with one
// descriptor beside it, or {"code":"…"} with a Code.
package broker
