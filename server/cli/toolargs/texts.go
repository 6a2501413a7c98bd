package toolargs

import "fmt"

// This file has the texts of the package that people read: what is wrong with an argument, and how to write it.

// Words key=value.

func noKeyValue(word string) string {
	return fmt.Sprintf("got %s; write key=value, key:=JSON or key=@file", word)
}

func noKeyIn(word string) string {
	return fmt.Sprintf("got %s, which has no key; write key=value, key:=JSON or key=@file", word)
}

func givenTwice(key string) string { return key + ": given twice" }

// notJSONValue says how to write a value that is not JSON.
func notJSONValue(key, text, why string) string {
	return fmt.Sprintf(`%s: %s is %s; a text is %s=TEXT or %s:='"TEXT"', a file %s=@FILE`, key, text, why, key, key, key)
}

// Files and standard input.

const readOnce = "standard input can be read once"

func beginsWithAt(key string) string {
	return fmt.Sprintf(`%s:='"@TEXT"' for a text that begins with @`, key)
}

func noFileNamed(key string) string {
	return fmt.Sprintf("%s: @ names no file; write %s=@file, or %s=@- for standard input", key, key, key)
}

func tooManyBytes(name string, most int) string {
	return fmt.Sprintf("%s holds more than %d bytes", name, most)
}

func notObject(text string) string { return fmt.Sprintf("got %s; want one JSON object", text) }
