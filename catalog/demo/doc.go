// Package demo is the make-believe world of the four reference patterns: an online shop with two managers, one month of
// sales, one day of operations figures, two customers, and tools that look at them.
//
//	decomposition  get_manager_profile, fetch_sales_data, fetch_refund_data, calculate_monthly_kpis, detect_risk_signals
//	orchestrator   sales_worker, payments_worker (slow at its first attempt), inventory_worker
//	routing        billing_specialist, technical_specialist, sales_specialist
//	supervisor     get_refund_context, issue_refund, send_refund_email (the two that write)
//
// The data and the form of each result are those of the reference programs. The tools decide nothing: what may be called
// is the gate's business. They keep no state: a refund's id follows from the key of its call, so the same act has the
// same id however often it is repeated.
package demo
