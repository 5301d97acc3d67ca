package local

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"decant.dev/extract"
)

// programs lists what the pipelines' extractors run, each once. What is not
// there, and what would open the engine's own state to a program, is an error
// that names the recipe.
func (e *Engine) programs() ([]string, error) {
	var all []string
	for _, name := range e.order {
		for _, path := range extract.ProgramsOf(e.pipelines[name].Extractor(nil)) {
			if err := e.checkProgram(path); err != nil {
				return nil, fmt.Errorf("recipe %s: %w", name, err)
			}
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (e *Engine) checkProgram(path string) error {
	at, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("program at %.256q: want a file or a directory, found none", path)
	}
	kept := []string{e.dir}
	if e.config.Grants != "" {
		grants, err := filepath.Abs(e.config.Grants)
		if err != nil {
			return fmt.Errorf("grants file: %w", err)
		}
		if resolved, err := filepath.EvalSymlinks(grants); err == nil {
			grants = resolved
		}
		kept = append(kept, grants)
	}
	for _, own := range kept {
		if within(at, own) || within(own, at) {
			return fmt.Errorf("program at %.256q: want it apart from the engine's state and grants", path)
		}
	}
	return nil
}

// within says whether path is dir or below it.
func within(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}
