package gateway_test

import (
	"strings"
	"testing"

	"patterngate/gateway"
)

func TestNear(t *testing.T) {
	names := []string{"fetch_sales_data", "fetch_refund_data", "get_profile", "final", "pay", "Pay_out", "pay_out", "größe"}
	tests := map[string]string{
		"":                     "",
		"FETCH_SALES_DATA":     "fetch_sales_data",
		"fetch_sale_data":      "fetch_sales_data",
		"fetch_sales_dataa":    "fetch_sales_data",
		"fetchsalesdata":       "fetch_sales_data", // two underscores
		"fetch_sal_data":       "fetch_sales_data",
		"fetch_sa_data":        "", // three letters
		"get_profil":           "get_profile",
		"gte_profile":          "get_profile", // two letters changed
		"fina":                 "final",
		"finaly":               "final",
		"fine":                 "", // two of five are more than a third
		"PAY":                  "pay",
		"pax":                  "", // one of three is not under a third
		"PAY_OUT":              "", // two names are equal but for case, and three letters off
		"pay_outt":             "", // one letter from one, two from the other
		"GRÖSSE":               "",
		"GRÖßE":                "größe",
		"grösse":               "", // two of five letters
		"grße":                 "größe",
		"fetch_data":           "",
		strings.Repeat("x", 9): "",
	}
	for got, want := range tests {
		if near := gateway.Near(got, names); near != want {
			t.Errorf("Near(%q) = %q, want %q", got, near, want)
		}
	}
	if near := gateway.Near("fetch_datas", []string{"fetch_data_1", "fetch_data_2", "fetch_dates"}); near != "" {
		t.Errorf("Near of several names = %q, want none", near)
	}
	if near := gateway.Near("ab_cd_ef", []string{"ab_cd_eg", "ab_cd_eh"}); near != "" {
		t.Errorf("Near of two at the same distance = %q, want none", near)
	}
	if near := gateway.Near("ab_cd_ef", []string{"ab_cd_eg", "ab_cd_eg"}); near != "ab_cd_eg" {
		t.Errorf("Near of one name given twice = %q", near)
	}
	if near := gateway.Near(strings.Repeat("x", 1<<20), names); near != "" {
		t.Errorf("Near of a megabyte = %q", near)
	}
}
