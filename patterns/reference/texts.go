package reference

// The texts with which the built-in patterns are listed. A client's model reads them before it calls a tool. They say
// refunds and specialists where the tools are those of the simulation.

// What a pattern is for, in the server's instructions.
const (
	useSteps  = "for steps in order"
	useTasks  = "for independent parts at once"
	useRoute  = "for one expert"
	useWrites = "when something is changed"
	useMoney  = "when money moves"
	usePlans  = "for long plans you work through"
)

const (
	routeAbout = "Hands a ticket to the specialist that fits (billing, technical or sales), and to another one if the first declines. " +
		"Use it when exactly one expert must answer. Send your own `route`, or omit it. Follow `next`."
	refundTitle = "Supervised refund"
	refundAbout = "Looks up a customer, pays a refund and sends the email. The refund policy approves, changes or blocks each action, or " +
		"asks a person. You cannot approve. Use it whenever money goes back. Send your own `actions`, or omit them. Follow `next`."
)

// Arguments.
const (
	continueWords   = "Continues this waiting run, as in next."
	reportDateWords = "YYYY-MM-DD."
	regionWords     = "The market, such as US."
	taskArguments   = "You can omit report_date and region."
	ticketWords     = "The customer's message, unchanged."
	routeArguments  = "You can omit ticket."
	closingWords    = "Kind final: what you tell the customer."
)
