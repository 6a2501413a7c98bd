package gateway

import (
	"math"
	"strconv"
)

// Cents rounds an amount to cents, with the rounding of decimal text (spec/patterns.md section 1).
func Cents(amount float64) float64 {
	if math.IsNaN(amount) || math.IsInf(amount, 0) {
		return amount
	}
	v, _ := strconv.ParseFloat(strconv.FormatFloat(amount, 'f', 2, 64), 64)
	return v
}
