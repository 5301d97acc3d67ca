//go:build !race

package act

// underRace makes the longest samples shorter.
const underRace = false
