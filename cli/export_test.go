package cli

import "os"

// WithLearned is what Main does before it asks whether it is a phase.
func WithLearned(pipelines []Pipeline) ([]Pipeline, error) {
	return withLearned(pipelines, os.Getenv(learnedVariable))
}
