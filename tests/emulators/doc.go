// Package emulators runs the functions as they are deployed, as binaries of
// their own, on emulators of AWS that live on this machine. It is a module of
// its own, so that the emulators' dependencies stay out of a user's.
//
// Not promised: that AWS does what its emulators do.
package emulators
