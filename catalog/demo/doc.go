// Package demo has the simulated world of the four reference patterns. It is an online shop with two managers, one
// month of sales, one day of operations figures and two customers, and with tools for them.
//
//	decomposition  get_manager_profile, fetch_sales_data, fetch_refund_data, calculate_monthly_kpis, detect_risk_signals
//	orchestrator   sales_worker, payments_worker (slow at its first attempt), inventory_worker
//	routing        billing_specialist, technical_specialist, sales_specialist
//	supervisor     get_refund_context, issue_refund, send_refund_email (the two that write)
//
// The data ([Reference]) and the form of each result are those of the reference programs. The tools decide nothing: the gate decides
// which calls are allowed. The tools keep no state. The id of a refund depends only on the key of its call, so a
// repeated call returns the same id.
package demo
