package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"patterngate/catalog"
	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// initFile is the configuration file that init writes, and the files next to it.
type initFile struct {
	path    string
	secrets map[string]string // by path: the secrets from the client's file
	order   []string          // the paths in the order of the entries
	older   []string          // files of secrets that were there before, and have the names that these would have
	ignore  string            // the .gitignore that was written beside them; "": none
}

// keepSecrets assigns each secret that needs a file a path next to the configuration. It writes nothing.
func (f *initFile) keepSecrets(servers []Server) {
	f.secrets = map[string]string{}
	keep := func(owner, name string, v *importedValue) {
		if !v.keep {
			return
		}
		path := f.secretPath(owner + "." + notInNames.ReplaceAllString(name, "_"))
		f.secrets[path] = strings.TrimPrefix(v.now, v.prefix)
		f.order = append(f.order, path)
		v.ref = "file:secrets/" + filepath.Base(path)
	}
	for i := range servers {
		s := &servers[i]
		for j := range s.args {
			keep(s.Name, fmt.Sprintf("arg_%d", j+1), &s.args[j])
		}
		for j := range s.env {
			keep(s.Name, s.env[j].name, &s.env[j].importedValue)
		}
		for j := range s.headers {
			keep(s.Name, s.headers[j].name, &s.headers[j].importedValue)
		}
	}
}

// secretPath returns the path of a file that does not exist yet.
func (f *initFile) secretPath(name string) string {
	dir := filepath.Join(filepath.Dir(f.path), "secrets")
	name = name[:min(len(name), 120)]
	for i := 1; ; i++ {
		path := filepath.Join(dir, name)
		if i > 1 {
			path = fmt.Sprintf("%s-%d", path, i)
		}
		_, taken := f.secrets[path]
		switch _, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist) && !taken:
			return path
		case err == nil:
			f.older = append(f.older, path)
		case !errors.Is(err, fs.ErrNotExist):
			return path // writing it returns the error
		}
	}
}

// write writes the secrets and then the configuration, and overwrites nothing. After an error it removes what it wrote.
func (f *initFile) write(text []byte) (err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	if len(f.order) > 0 {
		if err := os.MkdirAll(filepath.Join(filepath.Dir(f.path), "secrets"), 0o700); err != nil {
			return err
		}
	}
	if ignored, err := f.ignoreSecrets(); err != nil {
		return err
	} else if ignored {
		made = append(made, f.ignore)
	}
	for _, path := range f.order {
		if err := writePrivate(path, []byte(f.secrets[path]+"\n")); err != nil {
			return err
		}
		made = append(made, path)
	}
	return writePrivate(f.path, text)
}

// ignoreSecrets writes a .gitignore into the directory of secrets, so that no secret is committed. It does not change an existing
// .gitignore.
func (f *initFile) ignoreSecrets() (written bool, err error) {
	if len(f.order) == 0 {
		return false, nil
	}
	path := filepath.Join(filepath.Dir(f.order[0]), ".gitignore")
	err = writePrivate(path, []byte(ignoreFile))
	switch {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err == nil:
		f.ignore = path
	}
	return err == nil, err
}

// takeBack removes what write wrote.
func (f *initFile) takeBack() error {
	err := os.Remove(f.path)
	if f.ignore != "" {
		err = errors.Join(err, os.Remove(f.ignore))
	}
	for _, path := range f.order {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// writePrivate writes a new file that only its owner can read. It returns an error if the file exists.
func writePrivate(path string, text []byte) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// importedText returns the configuration with these servers and their lock. Confirmed tools are enabled; everything else is
// there to read.
func importedText(title, pin string, servers []Server) []byte {
	var b bytes.Buffer
	b.WriteString(fileHead(yamlComment(console.OtherText(title, 300)), yamldoc.Written(pin)))
	named, others := networksOf(servers)
	if len(named) > 0 {
		b.WriteString(allowsNetworks(tools.NetworkTexts(named)))
	}
	switch {
	case len(others) > 0 && len(named) > 0: // a mapping can have the key only once
		b.WriteString(addNetworks(tools.NetworkTexts(others)))
	case len(others) > 0:
		b.WriteString(couldAllow(tools.NetworkTexts(others)))
	}
	exposed, writes := inForce(servers)
	fmt.Fprintf(&b, "  expose: [%s]\n", strings.Join(exposed, ", "))
	if len(writes) > 0 {
		b.WriteString(couldExpose(strings.Join(writes, ", ")))
	}
	b.WriteString("  servers:")
	if len(servers) == 0 {
		b.WriteString(" {}")
	}
	b.WriteByte('\n')
	whole := true
	for _, s := range servers {
		entry := s.yaml()
		if s.out != "" {
			entry = commented(entry)
		} else {
			whole = false
		}
		b.WriteString(entry)
	}
	text := b.Bytes()
	if whole && len(servers) > 0 { // a mapping of nothing but comments would be null
		text = bytes.Replace(text, []byte("  servers:\n"), []byte("  servers: {}\n"), 1)
	}
	return text
}

// inForce returns the names of enabled tools: those that read, which are exposed, and those that write.
func inForce(servers []Server) (reads, writes []string) {
	for _, s := range servers {
		for _, t := range s.tools {
			switch {
			case !t.allow || s.problem != "" || s.out != "":
			case t.effect == catalog.Read:
				reads = append(reads, yamldoc.Written(t.listed()))
			default:
				writes = append(writes, yamldoc.Written(t.listed()))
			}
		}
	}
	return reads, writes
}

// commented returns an entry as a comment.
func commented(entry string) string {
	var b strings.Builder
	for line := range strings.Lines(entry) {
		b.WriteString("#" + line)
	}
	return b.String()
}

// yaml returns the server's entry, with one line for each tool.
func (s Server) yaml() string {
	var b strings.Builder
	b.WriteByte('\n')
	if s.From.Name != s.Name {
		b.WriteString(calledThere(yamlComment(console.OtherText(s.From.Name, 100))))
	}
	reasons := append([]string{s.out, s.problem}, s.notes...)
	for i, reason := range reasons {
		if reason != "" && !slices.Contains(reasons[:i], reason) {
			fmt.Fprintf(&b, "    # %s\n", yamlComment(console.OtherText(reason, maxStarterWords)))
		}
	}
	if s.failed() {
		b.WriteString(onceFixedComment(s.Name))
	}
	fmt.Fprintf(&b, "    %s:\n", s.Name)
	if s.problem != "" {
		b.WriteString("      enabled: false\n")
	}
	switch {
	case s.command != "":
		s.stdioYAML(&b)
	case s.url != "":
		fmt.Fprintf(&b, "      http: {url: %s%s}\n", yamldoc.Written(s.url), s.headersYAML())
	}
	b.WriteString("      tools:")
	if len(s.tools) == 0 {
		b.WriteString(" {}")
	}
	b.WriteByte('\n')
	for _, t := range s.tools {
		b.WriteString(t.yaml())
	}
	return b.String()
}

// stdioYAML writes how the server is started.
func (s Server) stdioYAML(b *strings.Builder) {
	fmt.Fprintf(b, "      stdio:\n        command: %s\n", yamldoc.Written(s.command))
	if len(s.args) > 0 {
		args := make([]string, len(s.args))
		for i, v := range s.args {
			args[i] = v.yaml()
		}
		fmt.Fprintf(b, "        args: [%s]\n", strings.Join(args, ", "))
	}
	b.WriteString(getsVariables(s.environmentYAML()))
	if s.dir != "" {
		fmt.Fprintf(b, "        dir: %s\n", yamldoc.Written(s.dir))
	}
}

// environmentYAML returns a list if all variables are passed on, else a mapping.
func (s Server) environmentYAML() string {
	names, members := make([]string, len(s.env)), make([]string, len(s.env))
	passed := true
	for i, v := range s.env {
		passed = passed && v.pass
		names[i], members[i] = yamldoc.Written(v.name), yamldoc.Written(v.name)+": "+v.yaml()
	}
	if passed {
		return "[" + strings.Join(names, ", ") + "]"
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// headersYAML returns the headers, to follow the url.
func (s Server) headersYAML() string {
	if len(s.headers) == 0 {
		return ""
	}
	members := make([]string, len(s.headers))
	for i, h := range s.headers {
		members[i] = yamldoc.Written(h.name) + ": " + h.yaml()
	}
	return ", headers: {" + strings.Join(members, ", ") + "}"
}

// yaml returns the value as the file writes it. It never contains a secret.
func (v importedValue) yaml() string {
	switch {
	case v.pass:
		return "true"
	case !v.hidden():
		return yamldoc.Written(v.text)
	case v.prefix != "":
		return "{secret: " + yamldoc.Written(v.ref) + ", prefix: " + yamldoc.Written(v.prefix) + "}"
	}
	return "{secret: " + yamldoc.Written(v.ref) + "}"
}

// yaml returns the tool's line.
func (t importedTool) yaml() string {
	as, off := "", ""
	if t.as != "" {
		as = "as: " + yamldoc.Written(t.as) + ", "
	}
	if !t.allow {
		off = ", enabled: false"
	}
	line := fmt.Sprintf("        %s: {%seffect: %s%s}", yamldoc.Written(t.Name), as, t.effect, off)
	words := console.OtherText(t.Description, 120)
	switch {
	case !t.allow && t.saysReads():
		words = offReads(as) + " " + words
	case t.reads != nil && *t.reads != (t.effect == catalog.Read): // a person decided otherwise
		words = shownTool(t)
	}
	if words != "" {
		line += strings.Repeat(" ", max(3, 56-len(line))) + "# " + yamlComment(console.OtherText(words, 200))
	}
	return line + "\n"
}

// yamlComment returns a line without characters that YAML does not allow.
func yamlComment(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, printable.Text(line))
}
