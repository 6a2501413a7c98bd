#!/usr/bin/env bash
# A session with the MCP Inspector's command line: somebody else's client, no SDK, no key. It starts a server of its own on
# a free port, has a plan refused and repaired, and pays a refund action by action. It needs node >= 22.19.
# usage: examples/inspector.sh [PATTERNGATE]     (MCP_INSPECTOR: another way to start the inspector than npx)
set -euo pipefail
patterngate=${1:-patterngate}
inspector=${MCP_INSPECTOR:-npx -y @modelcontextprotocol/inspector@2.12.0}

# The server logs its address once it serves.
dir=$(mktemp -d)
echo 'version: 1' > "$dir/config.yaml"
: > "$dir/log"
"$patterngate" --config "$dir/config.yaml" --state "$dir/state.db" serve --http 127.0.0.1:0 2>> "$dir/log" &
server=$!
trap 'kill $server; rm -rf "$dir"' EXIT
address=
while read -r line; do
  case $line in *' address='*) address=${line#* address=} address=${address%% *}; break ;; esac
done < <(tail -n +1 -f --pid=$server "$dir/log")
[ -n "$address" ] || { cat "$dir/log"; exit 1; }

# ask shows a command as you would type it, then the text of its answer.
ask() {
  printf '\n$ mcp-inspector --cli URL'
  for word; do
    case $word in *[!a-z_/-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  echo
  $inspector --cli "http://$address/mcp" "$@" --format json |
    node -e 'const r = JSON.parse(require("fs").readFileSync(0)).result
      console.log(r.tools ? r.tools.map((t) => t.name).join("\n") : r.content[0].text)' | tee "$dir/answer"
}
call() { ask --method tools/call --tool-name "$1" --tool-args-json "$2"; }

ask --method tools/list

# A plan with a misspelt tool: nothing runs, NEXT holds the repaired call. Send that.
steps() { echo '{"goal":"April report","plan":{"steps":[{"id":"s1","title":"Who","tool":"get_manager_profile","args":{"manager_id":42}},{"id":"s2","title":"Sales","tool":"'"$1"'","args":{"month":"2026-04"}},{"id":"s3","title":"KPIs","tool":"calculate_monthly_kpis","args":{"month":"2026-04"}}]}}'; }
call run_task_decomposition "$(steps fetch_sale_data)"
call run_task_decomposition "$(steps fetch_sales_data)"

# A refund: each action is judged before it is done, and the run waits for the next one.
call supervised_refund '{"goal":"Refund 300 USD to user_id=42","actions":[{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}]}'
run=$(grep -oE 'run_[0-9a-f]{16}' "$dir/answer" | head -1)
call supervised_refund '{"run_id":"'"$run"'","turn":2,"actions":[{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":300,"reason":"late delivery"}}]}'
call supervised_refund '{"run_id":"'"$run"'","turn":3,"actions":[{"kind":"final","answer":"300 USD were refunded."}]}'
