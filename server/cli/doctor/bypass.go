package doctor

import (
	"path/filepath"

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

// tell adds the finding for doctor.
func (b Bypass) tell(f *findings) {
	server := console.OtherName(b.Server)
	if b.Ours != "" {
		f.fail("gate", fixDirect(server), directOurs(server, b.File, console.OtherName(b.Ours)))
		return
	}
	f.warn("gate", fixImport(b.Client, server), direct(server, b.File))
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
			if ours.Enabled && sameServer(s, ours) {
				b.Ours = ours.Name
				break
			}
		}
		found = append(found, b)
	}
	return found
}

// sameServer reports whether a client's server is one of the catalog: by its command, its URL, or its name.
func sameServer(s importer.ClientServer, ours tools.Server) bool {
	named := []importer.Server{{From: s}}
	importer.NameServers(named)
	if s.Name == ours.Name || named[0].Name == ours.Name {
		return true
	}
	if ours.HTTP != nil {
		address, _ := importer.PlainURL(s.URL)
		return s.URL != "" && address == ours.HTTP.URL
	}
	if ours.Stdio == nil || s.Command == "" || len(s.Args) != len(ours.Stdio.Args) {
		return false
	}
	if s.Command != ours.Stdio.Command && s.Command != ours.Stdio.Path && filepath.Base(s.Command) != filepath.Base(ours.Stdio.Command) {
		return false
	}
	for i, v := range ours.Stdio.Args {
		if !v.Secret.Set() && v.Text != s.Args[i] { // secrets are not compared
			return false
		}
	}
	return true
}
