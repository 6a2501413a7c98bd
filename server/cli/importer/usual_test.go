package importer

import (
	"path/filepath"
	"testing"

	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// The file that a variable names is read without a flag, as is the one at the usual place.
func TestFilesThatAreRead(t *testing.T) {
	home := t.TempDir()
	named := filepath.Join(home, "own.yaml")
	usual, _, err := settings.Path(settings.Sources{Environ: []string{"HOME=" + home}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		environ []string
		path    string
		want    bool
	}{
		"usual":              {[]string{"HOME=" + home}, usual, true},
		"another":            {[]string{"HOME=" + home}, named, false},
		"named":              {[]string{"HOME=" + home, settings.PathVariable + "=" + named}, named, true},
		"usual, but another": {[]string{"HOME=" + home, settings.PathVariable + "=" + named}, usual, false},
	} {
		a := &Commands{Console: &console.Console{Environ: tt.environ}}
		if got := a.isUsual(tt.path); got != tt.want {
			t.Errorf("%s: read %t, want %t", name, got, tt.want)
		}
	}
}
