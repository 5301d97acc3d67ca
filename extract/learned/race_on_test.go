//go:build race

package learned

const raceDetector = true
