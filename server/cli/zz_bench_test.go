package cli
import "testing"
func BenchmarkEmbed(b *testing.B) {
	for b.Loop() { var c Config; if err := c.embed(nil); err != nil { b.Fatal(err) } }
}
func BenchmarkEmbedSnapshot(b *testing.B) {
	var c Config; if err := c.embed(nil); err != nil { b.Fatal(err) }
	for b.Loop() { c.Hash() }
}
