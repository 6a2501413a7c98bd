package catalog_test

import (
	"testing"

	"patterngate/catalog"
)

func TestMisspelt(t *testing.T) {
	for _, c := range [][2]string{
		{"manager_ids", "manager_id"}, {"managerId", "manager_id"}, {"Fetch_Sales_Data", "fetch_sales_data"}, {"fetch_salez_data", "fetch_sales_data"},
		{"amout_cents", "amount_cents"}, {"raeson", "reason"}, {"finalise", "finalize"}, {"paralel", "parallel"}, {"pth", "path"}, {"billing_specialst", "billing_specialist"},
		{"usr_id", "user_id"}, {"mont", "month"}, {"order-id", "order_id"}, {"get_managerprofil", "get_manager_profile"}, {"user_v2_nam", "user_v2_name"},
	} {
		if !catalog.Misspelt(c[0], c[1]) {
			t.Errorf("Misspelt(%q, %q) = false, want true", c[0], c[1])
		}
	}
	for _, c := range [][2]string{
		{"get_limit", "set_limit"}, {"timeout_s", "timeout_ms"}, {"timeout_s", "timeout"}, {"timeoutS", "timeoutMs"}, {"amount_aud", "amount_usd"}, {"weight_g", "weight_kg"},
		{"min_amount", "max_amount"}, {"minAmount", "maxAmount"}, {"include", "exclude"}, {"included", "excluded"}, {"import_orders", "export_orders"}, {"inactive", "active"},
		{"unlock_account", "lock_account"}, {"archive", "unarchive"}, {"increase", "decrease"}, {"ascending", "descending"}, {"payer_id", "payee_id"}, {"turn_on", "turn_off"},
		{"step2", "step1"}, {"step_1", "step_12"}, {"fetch_v1_data", "fetch_v2_data"}, {"internal", "external"}, {"is_female", "is_male"}, {"resend_email", "send_email"},
	} {
		if catalog.Misspelt(c[0], c[1]) || catalog.Misspelt(c[1], c[0]) {
			t.Errorf("Misspelt(%q, %q) = true, want false: they may name different things", c[0], c[1])
		}
	}
}
