package importer

// starterText is the configuration file that init writes without an import. A server can use it unchanged, and its comments
// show what else the file can contain.
const starterText = `# Patterngate's configuration. Every line that begins with # is a suggestion; "version: 1" alone is a whole file.
# After an edit:   patterngate validate      What is in force:   patterngate config show      Every key:   docs/config.md
version: 1

# The source of proposals. auto: an OpenAI-compatible model if OPENAI_API_KEY or base_url is set, else the client's own
# model and the offline rules. A key is never written here: {secret: "env:NAME"} or {secret: "file:PATH"}.
llm: {provider: auto}
# llm: {provider: openai, model: gpt-4.1-mini, base_url: "http://127.0.0.1:11434/v1"}

# Your own tools. What is not named does not exist. "patterngate init --import claude-desktop -o FILE" writes this part from
# the servers of a client; by hand it looks like this:
# catalog:
#   pin: patterngate.lock                # the accepted definition of each tool: patterngate catalog accept
#   expose: [list_directory]             # tools that the client gets as they are, each call gated and recorded
#   servers:
#     files:
#       stdio: {command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", /srv/orders], env: [PATH, HOME]}
#       tools:                           # effect: read, write or destructive; yours to say, never the server's
#         list_directory: {effect: read}
#         write_file: {effect: write, bound: {path: {within: /srv/orders}}}

# The built-in patterns. Each is a tool of the client; enabled: false drops one.
patterns:
  route_ticket: {enabled: true}
  # supervised_refund: {approver: {kind: inbox, expires_seconds: 86400}}    # a person decides above the limit

# Where people decide about calls that wait, and how Patterngate notifies them.
# inbox: "127.0.0.1:8766"
# notify: auto
`
