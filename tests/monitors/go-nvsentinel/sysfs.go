package main

import (
	"os"
	"path"
	"strings"
)

func readText(elements ...string) (string, error) {
	bytes, err := os.ReadFile(path.Join(elements...))
	return strings.TrimSpace(string(bytes)), err
}

// entries are the names in a folder, sorted as text, so that mlx5_10 comes before mlx5_2.
func entries(elements ...string) ([]string, error) {
	folder, err := os.ReadDir(path.Join(elements...))
	var names []string
	for _, entry := range folder {
		names = append(names, entry.Name())
	}
	return names, err
}
