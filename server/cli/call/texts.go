package call

import "fmt"

// The texts of the command "call".

func calling(tool string) string { return "calling " + tool }

func becauseOf(cause string) string { return "cause: " + cause }

// Tools that the server does not list.

func notExposed(tool string) string {
	return tool + " is in the configuration, but not in catalog.expose"
}

func addToExpose(place string) string { return "add it to catalog.expose in " + place }

func notOffered(tool string) string {
	return tool + " is in the configuration, but offer leaves it out"
}

func addToOffer(place string) string { return "add it to offer in " + place }

func demoIsOff(tool string) string { return tool + " is part of the demo, which is off" }

func turnDemoOn(file string) string {
	return "demo: {enabled: true} in " + file + " (a file with its own catalog or patterns turns the demo off)"
}

// misspelt names the argument that a person meant.
func misspelt(name, near string) string {
	return fmt.Sprintf("%s is not an argument of this tool; did you mean %s?", name, near)
}
