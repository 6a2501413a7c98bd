package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

// reloader puts a changed configuration in force in a serving process, completely or not at all. Runs keep the
// configuration that they began under. It is safe for concurrent use.
//
//	SIGHUP, patterngate reload ──▶ file ──▶ faults? keep the old one
//	                                 └──▶ looser, and a key is enrolled? signed, or keep the old one
//	                                        └──▶ tools swapped, clients told, event recorded
type reloader struct {
	from    *invocation.Invocation
	service *assembly.Service
	log     *slog.Logger

	mu     sync.Mutex
	loaded assembly.Loaded
	seen   []fileSeen // of the files that were read
	told   []fileSeen // the changed ones that were announced
}

// errUnsignedReload is the error of a reload that permits more than before, without the signature of an approver key.
var errUnsignedReload = errors.New(permitsMore)

// reload loads the file again. The answer and the log contain the result.
func (r *reloader) reload(request local.ReloadRequest) local.ReloadAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	inForce := r.service.Config()
	answer := local.ReloadAnswer{From: inForce.Hash()}
	loaded, err := r.reloaded()
	if err == nil {
		err = movedState(r.loaded.Config, loaded.Config)
	}
	if err == nil {
		err = r.service.Put(loaded, r.from.Environ, func(counting assembly.Loaded) error {
			answer.To = counting.Hash()
			answer.Loosens = assembly.Loosens(inForce, counting)
			return r.permitted(request, answer.Loosens, loaded.Hash())
		})
	}
	if err != nil {
		answer.Text = invocation.Reason(err)
		r.log.Error(logReloadRefused, "cause", err)
		return answer
	}
	answer.OK = true
	answer.Waiting = waitsForRestart(r.loaded.Config, loaded.Config)
	r.loaded, r.seen, r.told = loaded, filesSeen(loaded.Files()), nil
	r.log.Info("reload", "from", answer.From, "to", answer.To, "loosens", strings.Join(answer.Loosens, "; "))
	if len(answer.Waiting) > 0 {
		r.log.Warn(logWaitsForRestart, "keys", strings.Join(answer.Waiting, ", "))
	}
	return answer
}

// requested is reload for a request through the state file. If the request names another configuration file, it does
// nothing.
func (r *reloader) requested(request local.ReloadRequest) local.ReloadAnswer {
	if request.Path != r.path() {
		return local.ReloadAnswer{Other: true}
	}
	return r.reload(request)
}

// permitted refuses a change that permits more without a signature, if an approver key counts. The signature covers the
// content of the files, not which lines of the lock count.
func (r *reloader) permitted(request local.ReloadRequest, looser []string, files string) error {
	if len(looser) == 0 {
		return nil
	}
	ring, err := r.service.Engine().Approvals().Keys()
	if err != nil {
		return err
	}
	if !ring.Counts(console.Now()) {
		return nil
	}
	if !request.Signed() {
		return errUnsignedReload
	}
	signed := func(to string) bool {
		return request.Act.Act.Act == gateway.ActReload && ijson.Equal(request.Act.Subject, local.ReloadSubject(request.Path, to))
	}
	switch {
	case signed(files):
	case signed(request.To):
		return errors.New(otherSigned(request.To, files))
	default:
		return errUnsignedReload
	}
	if err := ring.Check(request.Act, console.Now()); err != nil {
		return fmt.Errorf(signatureDoesNotCount, err)
	}
	return nil
}

// waitsForRestart returns the changed keys that a reload does not apply. notify is one of them: the program that it names
// is not part of the hash that an approver key signs.
func waitsForRestart(from, to settings.Config) []string {
	var keys []string
	for name, differs := range map[string]bool{
		"http": fmt.Sprint(from.HTTP) != fmt.Sprint(to.HTTP), "inbox": from.Inbox != to.Inbox, "log": from.Log != to.Log, "state": from.State != to.State,
		"notify": fmt.Sprint(from.Notify) != fmt.Sprint(to.Notify),
	} {
		if differs {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return keys
}

// fileSeen is the size and time of a file when it was read.
type fileSeen struct {
	path string
	size int64
	at   time.Time
}

func seenFile(path string) fileSeen {
	info, err := os.Stat(path)
	if err != nil {
		return fileSeen{path: path}
	}
	return fileSeen{path, info.Size(), info.ModTime()}
}

// filesSeen returns how files are now.
func filesSeen(paths []string) []fileSeen {
	list := make([]fileSeen, len(paths))
	for i, path := range paths {
		list[i] = seenFile(path)
	}
	return list
}

// announceEvery is the interval between checks for changed files.
const announceEvery = 2 * time.Second

// watch logs files that were changed and not loaded, until ctx ends. It loads nothing: an agent that can write files must
// not be able to switch off the policy.
func (r *reloader) watch(ctx context.Context) {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.announce()
		}
	}
}

func (r *reloader) announce() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, was := range r.seen {
		is := seenFile(was.path)
		if is == was || slices.Contains(r.told, is) {
			continue
		}
		r.told = append(slices.DeleteFunc(r.told, func(t fileSeen) bool { return t.path == is.path }), is)
		r.log.Warn(logChangedOnDisk, "path", was.path, "try", "patterngate reload")
	}
}

// listen reloads at each signal until ctx ends.
func (r *reloader) listen(ctx context.Context, hangups <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			request := local.ReloadRequest{Path: r.path(), By: patterns.Note{By: "local", Channel: "signal"}, At: console.Now()}
			r.service.Engine().Reloaded(request, r.reload(request))
		}
	}
}

func (r *reloader) path() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return invocation.WholePath(r.loaded.Path)
}

// reloaded loads the configuration again from its sources.
func (r *reloader) reloaded() (assembly.Loaded, error) {
	was := r.loaded.Path
	loaded, warnings, err := r.service.Load(r.from.Sources())
	for _, w := range warnings {
		fmt.Fprintln(r.from.Err, printable.Text(w.String()))
	}
	if err == nil && was != "" && loaded.Path != was { // a deleted file must not remove its whole configuration
		err = errors.New(fileGone(was))
	}
	return loaded, err
}

// movedState returns an error for a reload that adds the first tool or pattern of the file's own, or removes the last one.
// A state file with an explicit name is allowed. Otherwise runs with real tools would be recorded together with those of
// the demo until the restart.
func movedState(from, to settings.Config) error {
	if from.State == to.State || !from.StateUsual || !to.StateUsual {
		return nil
	}
	return errors.New(stateMoved(to.State, from.State))
}
