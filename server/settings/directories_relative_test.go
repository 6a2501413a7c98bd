package settings_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/settings"
)

// A relative argument is judged from where the program starts: its dir, else the present directory.
func TestRelativeArgumentsNameDirectories(t *testing.T) {
	dir, prog := t.TempDir(), binaries(t, "prog")
	conf := filepath.Join(dir, "conf")
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(conf, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	file := filepath.Join(conf, "pg.yaml")
	for members, refused := range map[string]bool{
		"args: ['.']":                                true,
		"args: [conf]":                               true,
		"args: ['--root=conf']":                      true,
		"args: ['-y', 'data/../conf']":               true,
		"args: [data]":                               false,
		"args: ['-y', server, '--root=data']":        false,
		"args: ['.'], dir: '" + dir + "/data'":       false,
		"args: ['../conf'], dir: '" + dir + "/data'": true,
		"args: [confused, '--conf', 'conf.yaml']":    false,
	} {
		putFile(t, file, "version: 1\ncatalog: {servers: {fs: {stdio: {command: prog, "+members+"}}}}\n")
		_, _, err := read(settings.Sources{Path: file, Environ: []string{prog}})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "the configuration is in "+dir) {
			t.Errorf("%s: %v, want it refused: %t", members, err, refused)
		}
	}
}

// So is what a tool's arguments are fixed to and bounded by: the server reads them from there too. Where the file does not name
// the directory in which it starts, that depends on who starts this program, and a bare word is no path. A server that merely
// starts beside the configuration is not refused, nor what only describes an argument.
func TestRelativeFixAndBoundNameDirectories(t *testing.T) {
	dir, prog := t.TempDir(), binaries(t, "prog")
	conf := filepath.Join(dir, "conf")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "data"), 0o700), os.Mkdir(conf, 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	file := filepath.Join(conf, "pg.yaml")
	for members, refused := range map[string]bool{
		"fix: {path: ./conf}":                   true,
		"fix: {path: 'data/../conf'}":           true,
		"fix: {path: '.'}":                      true,
		"fix: {paths: [data, ./conf]}":          true,
		"fix: {path: data}":                     false,
		"fix: {user: conf}":                     false,
		"bound: {path: {enum: [data, ./conf]}}": true,
		"bound: {role: {enum: [admin, conf]}}":  false,
		"bound: {path: {const: ./conf}}":        true,
		"bound: {path: {default: './conf'}}":    true,
		"bound: {o: {type: object, default: {path: ./conf}, properties: {path: {type: string}}}}": true,
		"bound: {path: {enum: [data, ./confused]}}":                                               false,
		"bound: {path: {type: string, description: ./conf, pattern: '^data/'}}":                   false,
		"bound: {o: {type: object, properties: {path: {type: string, enum: ['.']}}}}":             true,
	} {
		putFile(t, file, "version: 1\ncatalog: {servers: {fs: {stdio: {command: prog}, tools: {read: {effect: read, "+members+"}}}}}\n")
		_, _, err := read(settings.Sources{Path: file, Environ: []string{prog}})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "the configuration is in "+dir) {
			t.Errorf("%s: %v, want it refused: %t", members, err, refused)
		}
		putFile(t, file, "version: 1\ncatalog: {servers: {fs: {stdio: {command: prog, dir: '"+conf+"/../data'}, tools: {read: {effect: read, "+
			strings.NewReplacer("./conf", "../conf", "data/../conf", "../conf").Replace(members)+"}}}}}\n")
		_, _, err = read(settings.Sources{Path: file, Environ: []string{prog}})
		if again := refused && !strings.Contains(members, "'.'"); (err != nil) != again {
			t.Errorf("%s from beside: %v, want it refused: %t", members, err, again)
		}
	}
	if err := os.Symlink(conf, filepath.Join(dir, "data", "link")); err != nil {
		t.Fatal(err)
	}
	for stdio, refused := range map[string]bool{"command: prog": false, "command: prog, dir: ../data": true} {
		putFile(t, file, "version: 1\ncatalog: {servers: {fs: {stdio: {"+stdio+"}, tools: {read: {effect: read, fix: {path: link}}}}}}\n")
		if _, _, err := read(settings.Sources{Path: file, Environ: []string{prog}}); (err != nil) != refused {
			t.Errorf("%s, and a word: %v, want it refused: %t", stdio, err, refused)
		}
	}
	putFile(t, file, "version: 1\ncatalog: {servers: {fs: {http: {url: 'https://a.example'}, tools: {read: {effect: read, fix: {path: conf}}}}}}\n")
	if _, _, err := read(settings.Sources{Path: file}); err != nil {
		t.Errorf("a server elsewhere has no directory here: %v", err)
	}
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
