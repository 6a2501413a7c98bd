package clientfile

import (
	"testing"

	"patterngate/server/cli/console"
)

// Where a program was put tells whether it will be there tomorrow.
func TestSetupTemporaryBuild(t *testing.T) {
	const sum = "5a6a9338ea39ea73aec30595f06140c1277074074ae06960becb10d7e0f565b1"
	for path, want := range map[string]bool{
		"/var/tmp/go-build1986697426/b001/exe/patterngate":                     true,
		"/var/folders/x/T/go-build12/b001/cli.test":                            true,
		`C:\Users\ann\AppData\Local\Temp\go-build77\b001\exe\patterngate.exe`:  true,
		"/home/ann/.cache/go-build/5a/" + sum + "-d/patterngate":               true,
		`C:\Users\ann\AppData\Local\go-build\5a\` + sum + `-d\patterngate.exe`: true,
		"/home/ann/src/go-build/patterngate":                                   false,
		"/home/ann/go-build1/patterngate":                                      false,
		"/home/ann/go/bin/patterngate":                                         false,
		"/nix/store/" + sum + "-patterngate/bin/patterngate":                   false,
		"/opt/go-build7/patterngate":                                           false,
	} {
		err := lasting(path, path)
		if (err != nil) != want {
			t.Errorf("lasting(%s) = %v, want a refusal: %t", path, err, want)
		}
		if want && err.(*console.Error).Try != "go build -o patterngate ." {
			t.Errorf("lasting(%s) says try: %s", path, err.(*console.Error).Try)
		}
	}
	if err := lasting("/a\xff", "/a"); err == nil {
		t.Error("a path that is not UTF-8 is taken")
	}
}
