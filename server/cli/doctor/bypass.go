package doctor

import (
	"runtime"

	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/cli/importer"
	"patterngate/server/settings/tools"
)

// Bypass is a server that a client starts directly, so that its calls go around Patterngate.
type Bypass struct {
	Client, File, Server string
	Ours                 string // the catalog's server that it is; "": none
}

// tell adds the finding for doctor. config is the file that the client's Patterngate reads; "" if there is none.
func (b Bypass) tell(config string, f *findings) {
	server := console.OtherName(b.Server)
	switch {
	case b.Ours != "":
		f.fail("gate", fixDirect(b.Client, console.ShellWord(runtime.GOOS, config), server, b.File), directOurs(server, b.File, console.OtherName(b.Ours)))
	case config != "":
		f.warn("gate", fixUnknown(server, b.File, config), direct(server, b.File))
	default:
		f.warn("gate", fixImport(b.Client, server, b.File), direct(server, b.File))
	}
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
			if ours.Enabled && importer.SameServer(s, ours) {
				b.Ours = ours.Name
				break
			}
		}
		found = append(found, b)
	}
	return found
}
