package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"patterngate/server"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
	"patterngate/server/transport"
)

// serveHTTP serves over HTTP until ctx ends.
func serveHTTP(ctx context.Context, s *server.Server, c settings.HTTP, tokens transport.Tokens) error {
	err := s.ListenHTTP(ctx, transport.HTTPConfig{
		Listen: c.Listen, Tokens: tokens, Origins: c.Origins, Hosts: c.Hosts, BodyBytes: c.BodyBytes, SessionIdle: c.SessionIdle,
	})
	if err != nil {
		return console.Fault("serve", err)
	}
	return nil
}

// tokensOf reads the token file. It returns none if the configuration names no file.
func tokensOf(c settings.HTTP) (transport.Tokens, error) {
	if c.Listen == "" || c.TokenFile == "" {
		return transport.Tokens{}, nil
	}
	text, f := readSecretFile(c.TokenFile)
	if f.Reason != "" {
		f.File, f.Path = c.TokenFile, "http.token_file"
		return transport.Tokens{}, &console.Error{Code: console.ExitUsage, Cause: &yamldoc.Error{Faults: []yamldoc.Fault{f}}}
	}
	tokens, err := transport.ParseTokens(text)
	if err != nil {
		lines := strings.ReplaceAll(err.Error(), "\n", "\n"+c.TokenFile+": ")
		return transport.Tokens{}, &console.Error{Code: console.ExitUsage, Cause: fmt.Errorf("%s: %s", c.TokenFile, lines)}
	}
	return tokens, nil
}

// readSecretFile reads a file that no other user can read or write.
func readSecretFile(path string) ([]byte, yamldoc.Fault) {
	info, err := os.Stat(path) // before it is opened: opening a pipe would wait
	if err == nil && info.Mode().IsRegular() {
		var file *os.File
		if file, err = os.Open(path); err == nil {
			defer file.Close()
			return readSecret(path, file)
		}
	}
	switch {
	case os.IsNotExist(err):
		return nil, yamldoc.Fault{Reason: machine.NoSuchFile, Want: wantFilePath}
	case err != nil:
		return nil, machine.CannotRead(err)
	}
	return nil, yamldoc.Fault{Reason: notRegular, Want: wantFilePath}
}

func readSecret(path string, file *os.File) ([]byte, yamldoc.Fault) {
	const others = 0o077
	info, err := file.Stat() // of the opened file
	if err != nil {
		return nil, machine.CannotRead(err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&others != 0 {
		return nil, yamldoc.Fault{Reason: openToOthers(mode), Want: "chmod 600 it"}
	}
	if f := machine.FaultOfWriters(path, info); f.Reason != "" {
		return nil, f
	}
	text, err := io.ReadAll(io.LimitReader(file, transport.MaxTokenFile+1)) // one more byte shows that it is too long
	if err != nil {
		return nil, machine.CannotRead(err)
	}
	return text, yamldoc.Fault{}
}
