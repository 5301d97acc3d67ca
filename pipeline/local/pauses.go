package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"decant.dev/act"
	"decant.dev/pipeline"
)

// Pauses is the directory of the recipes that a person has stopped: a file of
// a recipe's name stops it, whatever it holds. It is looked at for each
// question, so that a pause holds at once.
type Pauses struct{ dir string }

var _ act.Paused = Pauses{}

// NewPauses answers from the directory, which need not exist.
func NewPauses(dir string) Pauses { return Pauses{dir} }

func (p Pauses) file(recipe string) (string, error) {
	if !pipeline.IsRecipeName(recipe) {
		return "", errors.New("pause: want a recipe's name")
	}
	return filepath.Join(p.dir, recipe), nil
}

// Paused reports whether a person has stopped the recipe.
func (p Pauses) Paused(_ context.Context, recipe string) (bool, error) {
	name, err := p.file(recipe)
	if err != nil {
		return false, err
	}
	_, err = os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("pause: %w", err)
	}
	return true, nil
}

// Pause stops a recipe, or lets it go on.
func (p Pauses) Pause(_ context.Context, recipe string, paused bool) error {
	name, err := p.file(recipe)
	if err != nil {
		return err
	}
	if !paused {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("resume: %w", err)
		}
		return nil
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return nil
}
