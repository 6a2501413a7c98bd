// Package geometry computes where the parts of a drawing are: the nodes and lines of a plan, and the bars of a timeline. Package
// web writes the results into its pages as SVG.
//
//	subtasks, levels, edges ──Arrange──▶ Layout: node positions, path data of lines
//
//	record.Story ──NewScale──▶ Scale ──Scale.Bar, Scale.Gaps──▶ Bar: x and width
//
// The same input always gives the same drawing. The package writes no text and no HTML.
//
// Read layout.go first. The file scale.go does not depend on it.
package geometry
