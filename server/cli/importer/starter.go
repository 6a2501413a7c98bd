package importer

// starterText is the configuration file that init writes without an import. A server can use it unchanged, and its comments
// show what else the file can contain.
const starterText = `# The configuration of Patterngate. Every line that begins with # is a suggestion. "version: 1" alone is a complete file.
# After an edit:   patterngate validate      What is in force:   patterngate config show      Every key:   docs/config.md
version: 1

# The source of proposals. auto: an OpenAI-compatible model if OPENAI_API_KEY or base_url is set, else the client's own
# model and the offline rules. A key is never written here: {secret: "env:NAME"} or {secret: "file:PATH"}.
llm: {provider: auto}
# llm: {provider: openai, model: gpt-4.1-mini, base_url: "http://127.0.0.1:11434/v1"}

# Your own tools. A tool that is not named here does not exist. "patterngate init --import claude-desktop -o FILE" writes this part from
# the servers of a client. By hand it looks like this:
# catalog:
#   pin: patterngate.lock                # the accepted definition of each tool: patterngate catalog accept
#   expose: [list_directory]             # tools that the client can call directly; each call is judged and recorded
#   servers:
#     files:
#       stdio: {command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", /srv/orders], env: [PATH, HOME]}
#       tools:                           # effect: read, write or destructive; you decide, not the server
#         list_directory: {effect: read}
#         write_file: {effect: write, bound: {path: {within: /srv/orders}}}

# The built-in patterns. Each is a tool of the client. enabled: false removes it.
patterns:
  route_ticket: {enabled: true}
  # supervised_refund: {approver: {kind: inbox, expires_seconds: 86400}}    # a person decides above the limit

# Where people decide about calls that wait, and how Patterngate notifies them.
# inbox: "127.0.0.1:8766"
# notify: auto
`
