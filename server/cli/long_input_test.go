package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// An error repeats a bounded part of what was typed, and still ends with its cause; what to try stays.
func TestErrorsAreBounded(t *testing.T) {
	const most = 2000
	long := strings.Repeat("Ab9", 5667)
	home := t.TempDir()
	if err := os.Chmod(home, 0o700); err != nil { // a state file's directory is for its user alone
		t.Fatal(err)
	}
	t.Chdir(home)
	state := filepath.Join(home, "state.db")
	if code, out, errs := runCommand(t, []string{"HOME=" + home}, "call", "route_ticket", "ticket=refund", "--quiet", "--state", state); code == console.ExitUsage {
		t.Fatal(out, errs) // it makes the state file
	}
	faulty := writeConfig(t, "version: 1\npatterns: {plan: {tools: ["+long+"]}}\nllm: {provider: "+long+"}\n"+long+": 1\n")
	for line, wants := range map[string][]string{
		"LONG":                             {`patterngate: unknown command "Ab9`, `" for "patterngate"`, "try: patterngate --help"},
		"--LONG":                           {"unknown flag: --Ab9", "--help"},
		"-LONG":                            {"unknown shorthand flag: 'A' in -Ab9", "--help"},
		"help LONG":                        {`no command "Ab9`, "try: patterngate --help"},
		"version LONG":                     {"unknown command", `for "patterngate version"`},
		"runs LONG":                        {"unknown command", `for "patterngate runs"`},
		"runs list --limit LONG":           {`invalid argument "Ab9`, `for "--limit" flag`},
		"runs show LONG":                   nil,
		"runs verify LONG":                 {"runs verify: open Ab9", "file name too long"},
		"approvals show LONG":              nil,
		"approvals approve LONG":           nil,
		"catalog accept LONG":              {"catalog accept"},
		"catalog list LONG":                {"unknown command"},
		"policy explain LONG":              {"unknown command"},
		"policy diff LONG LONG":            {"policy diff", "file name too long", "try: patterngate policy diff"},
		"tools LONG":                       {"tools: no tool Ab9", "(run_task_decomposition, run_orchestrator", "try: patterngate tools"},
		"stop-reasons LONG":                {"no stop reason Ab9", "try: patterngate stop-reasons"},
		"setup LONG":                       {"setup: no client", "claude-desktop", "try: patterngate setup"},
		"setup claude-desktop --name LONG": {"setup --name", "want 1 to 64 of", "try: --name"},
		"doctor LONG":                      {"doctor: got", "want one of"},
		"init -o LONG/LONG --yes":          {"init: ", "file name too long"},
		"kill-switch on LONG":              {"needs --tool or --pattern", "try: patterngate kill-switch on --tool NAME"},
		"state LONG":                       {"unknown command"},
		"serve --http 127.0.0.1:1 --token-file LONG": {"http.token_file", "file name too long"},
		"--color LONG version":                       {"--color: got", "try: --color auto, always or never"},
		"--config LONG tools":                        {"cannot be read: file name too long"},
		"--state LONG runs list":                     {"state", "cannot be read: file name too long"},
		"--log-level LONG serve":                     {"log"},
		"validate LONG":                              {"cannot be read: file name too long"},
		"validate " + faulty:                         {"unknown key", "llm.provider", "patterns.plan.tools[0]"},
		"call LONG":                                  {"call"},
		"call route_ticket LONG":                     {"got Ab9", "write key=value"},
		"call route_ticket ticket=@LONG":             {"ticket: open Ab9", "file name too long"},
		"call route_ticket --args @LONG":             {"--args: open Ab9", "file name too long", "try: --args"},
		"call route_ticket --args LONG":              {"--args: not JSON"},
		"call route_ticket --url LONG":               {"is not the URL of a server"},
		"call route_ticket --command LONG":           {"call: start Ab9"},
		"ledger LONG":                                {"ledger: open Ab9", "file name too long"},
	} {
		args := strings.Fields(strings.ReplaceAll(line, "LONG", long))
		if !slices.Contains(args, "--state") {
			args = append(args, "--state", state)
		}
		code, out, errs := runCommand(t, []string{"HOME=" + home}, args...)
		if code == console.ExitDone || errs == "" || len(errs) > most || len(out) > most || strings.Contains(errs+out, long) {
			t.Errorf("%s ends with %d, %d bytes of output and %d of errors: %.300s", line, code, len(out), len(errs), errs)
		}
		for _, want := range wants {
			if !strings.Contains(errs, want) {
				t.Errorf("%s does not say %q: %.3000s", line, want, errs)
			}
		}
	}
}
