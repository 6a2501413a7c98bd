package clientfile

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var updateSamples = flag.Bool("update", false, "write the expected files again")

// sampleEntry is the entry of the golden files.
var sampleEntry = Entry{Name: "patterngate", Command: "/opt/patterngate/bin/patterngate", Args: []string{"serve"}}

// Each file of testdata/setup is a client's file: what setup makes of it and what taking the entry out leaves, or the
// fault for which it is refused. go test -run TestSetupSamples -update writes the expectations anew.
func TestSetupSamples(t *testing.T) {
	paths, err := filepath.Glob("testdata/setup/*.txtar")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d samples: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(string(archive.Comment), "client: "), "\n")
			client, ok := Find(name)
			if !ok {
				t.Fatalf("no client %q", name)
			}
			got := txtar.Archive{Comment: archive.Comment, Files: append(archive.Files[:1:1], outcomeOf(t, client, archive.Files[0].Data)...)}
			if *updateSamples {
				if err := os.WriteFile(path, txtar.Format(&got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(&got))); diff != "" {
				t.Errorf("setup %s, -want +got:\n%s", name, diff)
			}
		})
	}
}

// outcomeOf is what setup makes of a client's file.
func outcomeOf(t *testing.T, client Client, before []byte) []txtar.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "FILE")
	putSetupFile(t, path, string(before))
	file := setupFileAt(t, path)
	c, err := PlanWrite(client.Format, file, sampleEntry)
	if err != nil {
		return []txtar.File{{Name: "fault", Data: []byte(strings.ReplaceAll(err.Error(), path, "FILE") + "\n")}}
	}
	checkMerge(t, client.Format, before, c.After, sampleEntry)
	undone, err := client.Format.Remove(c.After, sampleEntry.Name)
	if err != nil {
		t.Fatalf("remove: %v", err)
	}
	return []txtar.File{{Name: "after", Data: c.After}, {Name: "undone", Data: undone}}
}

// checkMerge holds a merged text to what setup promises: the entry starts the program, nothing else says anything else,
// a second merge changes nothing, and where the entry is new every byte is still there, in order.
func checkMerge(t *testing.T, f Format, before, after []byte, e Entry) {
	t.Helper()
	if entry, _ := EntryOf(f, after, e.Name); !e.Starts(entry) {
		t.Errorf("the entry of %q is %v, want %+v", after, entry, e)
	}
	if !onlyEntryDiffers(f, before, after, e.Name) {
		t.Errorf("merging changes more than the entry:\n%q\n%q", before, after)
	}
	if again, err := f.Merge(after, e); err != nil || string(again) != string(after) {
		t.Errorf("merge(%q) = %q, %v; want no change", after, again, err)
	}
	if _, had := EntryOf(f, before, e.Name); !had && !holdsInOrder(after, before) {
		t.Errorf("merging loses bytes of others:\n%q\n%q", before, after)
	}
}

// holdsInOrder reports whether all of part stands in whole, in order.
func holdsInOrder(whole, part []byte) bool {
	for _, c := range whole {
		if len(part) > 0 && part[0] == c {
			part = part[1:]
		}
	}
	return len(part) == 0
}

func putSetupFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func setupFileAt(t *testing.T, path string) File {
	t.Helper()
	file, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
