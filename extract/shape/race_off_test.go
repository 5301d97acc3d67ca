//go:build !race

package shape

// underRace makes the longest samples shorter.
const underRace = false
