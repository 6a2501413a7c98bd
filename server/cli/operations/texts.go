package operations

import "fmt"

// This file has texts of the package that people read. The texts of help pages are beside their commands.

// unknownSwitch warns of a kill switch for a name that the configuration does not have.
func unknownSwitch(what, name, near string) string {
	text := fmt.Sprintf("warning: the configuration has no %s %s", what, name)
	if near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	return text
}

// Kill switches.

const (
	oneScope              = "use one of --tool and --pattern, or none for all calls"
	switchNotOn           = "this kill switch is not on"
	callsAllowed          = "off: calls are allowed\n"
	switchesWithoutConfig = "kill switches work without a valid configuration. This command uses the state file "
)

// meantSwitch adds the switch that was meant; "" if there is none.
func meantSwitch(flag, near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s%s?", flag, near)
}

func needsFlag(word string) string { return fmt.Sprintf("%s needs --tool or --pattern", word) }

func switchTool(word, flag string) string { return "patterngate kill-switch " + word + flag }

// othersStayOn begins a list of the switches that are still on.
func othersStayOn(off string, others int) string {
	if others == 1 {
		return fmt.Sprintf("off: %s; another kill switch is still on:\n", off)
	}
	return fmt.Sprintf("off: %s; other kill switches are still on:\n", off)
}

func onlyAlias(tool string) string {
	return fmt.Sprintf("--tool %s is only the name in a pattern", tool)
}

// allowAgain is what a person signs.
func allowAgain(what string) string { return "allow calls again of " + what }

func switchOn(what, since, by string) string {
	return fmt.Sprintf("on: %s, since %s, by %s", what, since, by)
}

// Reloads.

const (
	noConfigFile   = "there is no configuration file"
	nobodyServes   = "no server uses this state file. The next one that starts reads the configuration"
	notAllAnswered = "not every server has answered"
	usesOtherFile  = "it uses another configuration file"
	otherFile      = "not changed: a server with another configuration file\n"
	nobodyUsesFile = "no server uses this configuration file"
	giveFile       = "--config FILE with the file that the server uses"
)

// loadPresent is what a person signs.
func loadPresent(file, hash string) string {
	return fmt.Sprintf("load %s in its present form, %s", file, hash)
}

func reloadedTo(from, to string) string { return fmt.Sprintf("reloaded: %s to %s\n", from, to) }

// looser returns the line of a change that permits more or that Patterngate cannot rank, such as a changed rule.
func looser(what string) string { return "  counts as looser: " + what + "\n" }

func needsRestart(key string) string { return "  needs a restart: " + key + "\n" }

func refusedReload(why string) string {
	return fmt.Sprintf("refused; the old configuration stays: %s\n", why)
}
