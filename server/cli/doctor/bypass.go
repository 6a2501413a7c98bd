package doctor

import (
	"cmp"
	"os"
	"runtime"

	"patterngate/server/assembly"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/cli/importer"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
)

// Bypass is a server that a client starts directly, so that its calls go around Patterngate.
type Bypass struct {
	Client, File, Server string
	Ours                 string // the catalog's server that it is; "": none
	Off                  string // the server of the file that it is, which is off; "": none
}

// tellBypasses adds the findings for doctor. Servers with the same fix are one finding.
func tellBypasses(all []Bypass, config, usual string, f *findings) {
	var ours, rest []Bypass
	for _, b := range all {
		switch {
		case b.Ours != "":
			ours = append(ours, b)
		case b.Off != "":
			b.tell(nil, config, usual, f)
		default:
			rest = append(rest, b)
		}
	}
	for _, same := range [][]Bypass{ours, rest} {
		if len(same) > 0 {
			same[0].tell(same[1:], config, usual, f)
		}
	}
}

// tell adds the finding for doctor about the server and others with the same fix. config is the file that the client's
// Patterngate reads; "" if there is none. usual is the file that init would write, if it exists; init does not overwrite it.
func (b Bypass) tell(others []Bypass, config, usual string, f *findings) {
	servers := []string{console.OtherName(b.Server)}
	for _, other := range others {
		servers = append(servers, console.OtherName(other.Server))
	}
	read := cmp.Or(config, usual)
	switch {
	case b.Ours != "" && config != "":
		f.fail("gate", fixDirect(b.Client, console.ShellWord(runtime.GOOS, config), servers, b.File), directOurs(servers, b.File, console.OtherName(b.Ours)))
	case b.Ours != "":
		f.warn("gate", fixMoved(b.Client, servers, b.File), directOurs(servers, b.File, console.OtherName(b.Ours)))
	case b.Off != "":
		f.warn("gate", fixOff(servers, b.File, console.ShellWord(runtime.GOOS, console.OtherName(b.Off)), console.ShellWord(runtime.GOOS, read)), directOff(servers, b.File, console.OtherName(b.Off), read))
	case config != "":
		f.warn("gate", fixUnknown(servers, b.File, config), direct(servers, b.File))
	case usual != "":
		f.warn("gate", fixReplace(b.Client, servers, b.File, usual), direct(servers, b.File))
	default:
		f.warn("gate", fixImport(b.Client, servers, b.File), direct(servers, b.File))
	}
}

// catalogOf returns the catalog of a configuration. It is empty if the configuration does not load.
func catalogOf(path string, environ []string) tools.Catalog {
	loaded, _, err := assembly.Load(settings.Sources{Path: path, Environ: environ}, assembly.LoadOptions{})
	if err != nil {
		return tools.Catalog{}
	}
	loaded.Close()
	return loaded.Catalog
}

// usualConfig returns the path of the configuration that init would write, or "" if there is no file.
func usualConfig(environ []string) string {
	path, _, err := settings.Path(settings.Sources{Environ: environ})
	if err != nil || path == "" {
		return ""
	}
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// Bypasses returns the servers of the catalog that clients of this machine also start directly. They have the same command
// and arguments, the same URL or the same name. It reads only the clients' own files, of at most 8 MiB each, and ignores
// what it cannot read. If the catalog has no servers, it reads nothing.
func Bypasses(environ []string, c tools.Catalog) []Bypass {
	if len(c.Servers) == 0 {
		return nil
	}
	host := clientfile.ThisHost(environ)
	var found []Bypass
	for _, client := range clientfile.Clients() {
		path, err := client.Path(host)
		if err != nil {
			continue
		}
		file, err := clientfile.Read(path)
		if err != nil || file.Info == nil {
			continue
		}
		entries, _, err := client.Format.Decode(file.Text)
		if err != nil {
			continue
		}
		_, others := ourEntry(entries, "")
		for _, b := range aroundIn(importer.ClientFile{Client: client, File: file}, others, c) {
			if b.Ours != "" {
				found = append(found, b)
			}
		}
	}
	return found
}

// aroundIn returns the servers of one file that the client starts directly. It skips disabled ones.
func aroundIn(in importer.ClientFile, others []importer.ClientServer, c tools.Catalog) []Bypass {
	var found []Bypass
	for _, s := range others {
		if s.Off || s.Problem != "" {
			continue
		}
		b := Bypass{Client: in.Client.Name, File: in.File.Path, Server: s.Name}
		for _, ours := range c.Servers {
			if !importer.SameServer(s, ours) {
				continue
			}
			if ours.Enabled {
				b.Ours, b.Off = ours.Name, ""
				break
			}
			b.Off = ours.Name
		}
		found = append(found, b)
	}
	return found
}
