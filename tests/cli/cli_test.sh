#!/usr/bin/env bash
# Tests the program on the command line: exit codes, results and the texts of errors.
#   cli_test.sh PROGRAM VALID_JSON SOURCE_DIR
set -uo pipefail
program=$1 valid_json=$2
cd "$3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# judge NAME CODE WORDS FOUND: checks that the exit code FOUND is CODE and that $work/out contains WORDS.
judge() {
  if [[ $4 == "$2" ]] && { [[ -z $3 ]] || grep -qF -- "$3" "$work/out"; }; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n  expected exit %s and "%s", found exit %s and:\n' "$1" "$2" "$3" "$4"
    head -c 2000 "$work/out" | head -5
  fi
}

# expect CODE WORDS -- ARGUMENTS: runs the program and checks its exit code and its output, standard error included.
expect() {
  local code=$1 words=$2
  shift 3
  "$program" "$@" >"$work/out" 2>&1
  judge "capstan $*" "$code" "$words" $?
}

# trace WORDS BYTES: checks the error of a trace with these bytes, given as a format of printf.
trace() {
  printf -- "$2" >"$work/bad.csv"
  expect 1 "$1" -- sim $small --trace "$work/bad.csv"
}

# scenario CODE WORDS TEXT: simulates a scenario file with this text.
scenario() {
  printf -- "$3" >"$work/bad.yaml"
  expect "$1" "$2" -- sim "$work/bad.yaml"
}

# set_to CODE WORDS ASSIGNMENT...: runs `capstan compare` on the smallest scenario, changed by --set ASSIGNMENT.
# Expects this exit code and these words.
set_to() {
  local code=$1 words=$2 sets=()
  shift 2
  for assignment in "$@"; do sets+=(--set "$assignment"); done
  expect "$code" "$words" -- compare "$work/tiny.yaml" "${sets[@]}"
}

hour=scenarios/azure-hour.yaml
small=scenarios/azure-hour-8b-h100.yaml
cat >"$work/tiny.yaml" <<'YAML'
name: tiny
load: {generator: {rate: 2, input: 200, output: 50}, duration: 1m}
service: {model: Llama-3.1-8B, gpu: H100, slo: {ttft: 1s}, replicas: {min: 1, max: 4}}
cluster:
  pools: [{name: h100, gpu_limit: 16, offerings: [{instance: p5.48xlarge}]}]
  existing: [{instance: p5.48xlarge, pool: h100}]
policies: [{name: a, scale: queue_hpa, place: gang, provision: group}]
YAML

# Commands that succeed.
expect 0 "capstan 0." -- version
expect 0 "compare" -- --help
expect 0 "capstan 0." -- --version
expect 0 "eight fixed" -- sim $small
expect 0 "is the cheapest policy that holds the SLO of 99.0 %" -- compare $hour
expect 0 "constant fleet of 4 replicas (hindsight)" -- compare $hour
expect 0 "one bar is 1 min" -- compare $hour --no-advice --sparklines=always
expect 0 "holds the SLO" -- compare $hour --no-advice --report "$work/hour.html"
# The figures that the page shows first hold the command as text. The whole result is packed, so grep does not find it
# there.
judge "the report holds its command" 1 "" "$(grep -c '"command":"capstan compare [^"]*azure-hour.yaml"' "$work/hour.html")"
expect 1 "$work/none/hour.html" -- sim $small --report "$work/none/hour.html"

# Recordings.
printf 'scale: {policy: capstan}\n' >"$work/other.yaml"
printf 'scale: {policy: capstann}\nplase: 1\n' >"$work/misspelt.yaml"
expect 0 "queue · gang · group" -- sim $hour --policy "queue · gang · group" --record "$work/hour.rec"
expect 0 "scale service to" -- replay "$work/hour.rec"
expect 2 "The first decision that differs is at 00:0" -- replay "$work/hour.rec" --policy "$work/other.yaml"
expect 2 '"first_difference"' -- replay "$work/hour.rec" --policy "$work/other.yaml" -o json
# The recording of a controller in the mode Shadow. The policy of few.yaml keeps the number of replicas where the
# recorded policy adds a replica.
cp "$work/hour.rec" "$work/shadow.rec"
python3 -c "import sqlite3, sys; file = sqlite3.connect(sys.argv[1]); file.execute(sys.argv[2]); file.commit()" \
  "$work/shadow.rec" "UPDATE outcomes SET result = 'shadow', why = 'the mode is Shadow'"
printf 'scale: {policy: queue_hpa, waiting_per_replica: 1000, running_per_replica: 1000}\n' >"$work/few.yaml"
expect 0 "[Shadow, not carried out] scale service to 3 replicas" -- replay "$work/shadow.rec"
expect 2 "  recorded  [Shadow, not carried out] scale service to 3 replicas" -- \
  replay "$work/shadow.rec" --policy "$work/few.yaml"
expect 2 "  recorded  scale service to 3 replicas" -- replay "$work/hour.rec" --policy "$work/few.yaml"
expect 2 '"result": "shadow"' -- replay "$work/shadow.rec" --policy "$work/few.yaml" -o json
expect 1 "did you mean place?" -- replay "$work/hour.rec" --policy "$work/misspelt.yaml"
expect 1 "expected a recording that" -- replay $hour
expect 1 "none.rec: cannot be opened, expected a recording that" -- replay "$work/none.rec"
expect 1 "is not a recording, expected a new name" -- sim $hour --record "$work/other.yaml"
expect 1 "is a recording, expected a new name" -- sim $hour --record "$work/hour.rec"
expect 1 "open it in a browser" -- serve "$work/hour.html" --listen 127.0.0.1:0
expect 1 "this is a page, such as one that --report wrote" -- top "$work/hour.html"
expect 64 "is a peer's autoscaler" -- sim scenarios/azure-hour-peers.yaml --record "$work/peer.rec"
set_to 0 "holds the SLO"
set_to 0 "0 requests" load.generator.rate=0

# The README and the page of exit codes list every command.
for command in $("$program" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\) .*/\1/p'); do
  grep -q "^| \`capstan $command[ \`]" README.md
  judge "README.md lacks capstan $command" 0 "" $?
  grep -q "\`$command\`" docs/reference/exit-codes.md
  judge "docs/reference/exit-codes.md lacks $command" 0 "" $?
  commands=$((${commands:-0} + 1))
done
judge "capstan --help lists its commands" yes "" "$( ((${commands:-0} >= 7)) && echo yes)"

# Usage errors.
expect 64 "capstan: found 'nonsense', expected sim, compare" -- nonsense
expect 64 "did you mean compare?" -- compar --help
expect 64 "capstan engine: found 'server', expected predict, serve or load (did you mean serve?)" -- engine server
expect 64 "found '--nonsense'" -- --nonsense
expect 64 'layer: found "scal", expected scale, place or provision' -- decide scal x.json
expect 64 'capstan version: --output: found "xml", expected text or json' -- version -o xml
expect 64 "scenario is missing, expected a command such as \`capstan compare" -- compare
expect 64 "no command is given, expected warm-pool, tokens, idle" -- cost
expect 64 "found \"--police\", expected an option that \`capstan compare --help\` lists (did you mean --policy?)" -- \
  compare $hour --police
expect 64 "--seed" -- compare $hour --seed -1
expect 64 "'x' is not a seed" -- compare $hour --seed x
expect 64 "is not a seed, expected 0 to 9223372036854775807" -- compare $hour --seed 9223372036854775808
expect 64 "--jobs: found \"5000\", expected 0 to 1024" -- compare $hour --jobs 5000
expect 64 '--sparklines: found "sometimes", expected auto, always or never' -- compare $hour --sparklines=sometimes
expect 64 "--output" -- compare $hour -o xml
expect 64 "expected one of" -- compare $hour --policy unknown
expect 64 "--policy" -- sim $hour --policy "queue · gang · group" --policy "queue · first-fit · karpenter"
expect 64 "--policy" -- snapshot --scenario $hour --policy "queue · gang · group" --policy "queue · first-fit · karpenter"
expect 0 "queue · first-fit · karpenter" -- compare $hour --policy "queue · first-fit · karpenter" \
  --policy "queue · gang · group"
expect 64 "--set load.scale: expected path=value" -- compare $hour --set load.scale
expect 64 "--set policies.9.scale=x: policies is a list of" -- compare $hour --set policies.9.scale=x
expect 64 "--fail-on mets<1: found \"mets\", expected one of" -- compare $hour --fail-on "mets<1"
expect 64 "found \"8000%\", expected a percentage from 0 to 100" -- compare $hour --fail-on "met<8000%"
expect 0 "met" -- compare $hour --fail-on "met<10"
expect 2 "threshold missed (--fail-on score<99): queue · gang · group has " -- compare $hour --fail-on "score<99"

# Missing files, and paths that are not files.
expect 1 "nowhere.yaml: cannot be opened" -- compare nowhere.yaml
expect 1 "nowhere.csv: cannot be opened" -- sim $small --trace nowhere.csv
expect 1 "nowhere.csv: cannot be opened" -- engine predict --points nowhere.csv
expect 1 "scenarios: cannot be read" -- compare scenarios
expect 1 "scenarios: cannot be read" -- sim $small --trace scenarios
expect 1 "scenarios: cannot be read" -- engine predict --points scenarios
if ((EUID != 0)); then # root can read every file
  install -m 000 /dev/null "$work/secret"
  expect 1 "secret: cannot be opened" -- compare "$work/secret"
  expect 1 "secret: cannot be opened: Permission denied" -- sim $small --trace "$work/secret"
fi
{ printf '\177ELF\2\1\1\3\0'; head -c 4096 "$program"; } >"$work/binary"
expect 1 "binary:1:1: contains a control character, expected YAML" -- compare "$work/binary"
expect 1 "binary:1:9: found a NUL byte, expected text in UTF-8" -- sim $small --trace "$work/binary"
expect 1 "a quote or a NUL byte, expected plain fields" -- engine predict --points "$work/binary"

# Cases of other autoscalers (src/conformance tests every rule).
cat >"$work/cases.json" <<'JSON'
{"cases": [
  {"id": "right", "kind": "apa", "expect": {"pods": 3}, "given": {"current": 2, "target": 30, "average": 45,
   "up_tolerance": 0.1, "down_tolerance": 0.1, "max_up_rate": 2, "max_down_rate": 2}},
  {"id": "wrong", "kind": "apa", "expect": {"pods": 3}, "given": {"current": 2, "target": 30, "average": 30,
   "up_tolerance": 0.1, "down_tolerance": 0.1, "max_up_rate": 2, "max_down_rate": 2}}]}
JSON
expect 2 "wrong: pods: expected 3, found 2" -- conformance aibrix "$work/cases.json"
expect 2 "1 passed, 1 failed" -- conformance aibrix "$work/cases.json"
expect 2 '"passed": 1' -- conformance aibrix "$work/cases.json" -o json
printf '{"cases": []}' >"$work/none.json"
printf '{}' >"$work/empty.json"
expect 0 "0 passed, 0 failed" -- conformance hpa "$work/none.json"
expect 0 "11 passed, 0 failed" -- conformance hpa tests/conformance/hpa.json
expect 2 "kind: found \"apa\", expected one of decide, start_state, target" -- conformance kpa tests/conformance/aibrix.json
expect 64 "found \"hps\", expected one of hpa" -- conformance hps "$work/none.json"
expect 1 "nowhere.json: cannot be opened, expected a file of cases" -- conformance hpa nowhere.json
expect 1 "binary:1:1: is not JSON" -- conformance hpa "$work/binary"
expect 1 "found no list \"cases\"" -- conformance hpa "$work/empty.json"

# Traces (src/workload/trace_test.cc tests every row of every reader).
azure='TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,3,4\n'
trace "bad.csv: the file is empty, expected a trace" ''
trace "bad.csv:1:1: the header has no column 'GeneratedTokens'" 'TIMESTAMP,ContextTokens\n'
trace "bad.csv:3:24: ContextTokens is '-3', expected a whole number of tokens" "${azure}2023-11-16 18:15:46.68,-3,4\n"
trace "bad.csv:3:1: the time goes back by" "${azure}2023-11-16 18:15:46.67,3,4\n"
trace "bad.csv:3:4: found a NUL byte" "${azure}202\\0003-11-16\n"
{ printf "$azure" && head -c 10000000 /dev/zero | tr '\0' 1; } >"$work/long.csv"
expect 1 "long.csv:3:1048577: the line is longer than 1048576 bytes" -- sim $small --trace "$work/long.csv"
printf "$azure" | gzip | head -c 40 >"$work/cut.csv.gz"
expect 1 "cut.csv.gz: the gzip data ends early, expected a whole file" -- sim $small --trace "$work/cut.csv.gz"
printf '\x28\xb5\x2f\xfd\x00' >"$work/cut.csv.zst"
expect 1 "cut.csv.zst: the zstd data ends early, expected a whole file" -- sim $small --trace "$work/cut.csv.zst"
set_to 64 "load.trace: trace.csv does not exist, expected a trace" 'load={trace: trace.csv}'

# Scenarios (src/scenario/scenario_test.cc and src/manifest/yaml_test.cc test every key).
scenario 1 "bad.yaml: is empty, expected a YAML mapping" ''
scenario 1 "bad.yaml:1:1: scenario is a list, expected a mapping" '- 1\n'
scenario 1 "bad.yaml:3:1: not YAML" 'name: x\nload: [\n'
scenario 1 "bad.yaml:2:1: key \"name\" is given twice, first on line 1" 'name: x\nname: y\n'
scenario 1 "bad.yaml:1:1: scenario lacks \"load\"" 'name: x\n'
scenario 1 "(did you mean load?)" 'name: x\nlaod: {}\nload: {}\nservice: {}\ncluster: {}\n'
scenario 1 "nested more than 64 deep" "name: $(printf '[%.0s' {1..200})\n"
bomb='a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n'
for i in {1..9}; do bomb+="a$i: &a$i [$(printf "*a$((i - 1)), %.0s" {1..10})]\n"; done
scenario 1 "has more than 500000 values after aliases are expanded" "$bomb"
head -c 9000000 /dev/zero | tr '\0' ' ' >"$work/big.yaml"
expect 1 "big.yaml: is larger than 8 MiB" -- sim "$work/big.yaml"

# Invalid values: the error names the option that set them.
set_to 64 "--set service.modle=x: service: found key \"modle\"" service.modle=x
set_to 64 "did you mean model?" service.modle=x
set_to 64 "--set load.scale=.nan: load.scale: found \".nan\", expected a number" load.scale=.nan
set_to 64 "--set load.scale=1e999: load.scale: found" load.scale=1e999
set_to 64 "--set load.scale=1e9: load.scale: found \"1e9\", expected 1e-06 to 100000" load.scale=1e9
set_to 64 "--set seed=99999999999999999999: scenario.seed: found" seed=99999999999999999999
set_to 64 "--set service.slo=fast: slo is \"fast\", expected a mapping" service.slo=fast
set_to 64 "--set service.replicas.min=5: service.replicas: min 5 is above max 4" service.replicas.min=5
set_to 64 "--set policies.9.name=x: policies is a list of 1" policies.9.name=x
set_to 64 "--set policies.0.provision={policy: karpenter, hold: 3m}: provision under policy karpenter: found key \"hold\"" \
  'policies.0.provision={policy: karpenter, hold: 3m}'
set_to 64 "policies.sweep: found \"queue\", expected a mapping of paths to lists of values" policies.0.sweep=queue
set_to 64 "policies.sweep.scale: found \"rules\", expected a list of values" 'policies.0.sweep={scale: rules}'
set_to 64 "policies.sweep: more than 1000 combinations" \
  "policies.0.sweep={scale.policy: [$(printf 'queue_hpa, %.0s' {1..1001})]}"
set_to 64 "scale.pod.cpu: found \"none\", expected a quantity above 0" \
  "policies.0.scale={manifest: $PWD/scenarios/manifests/hpa-cpu.yaml, pod: {cpu: none}}"
set_to 1 "hpa-cpu.yaml:11:22: cpu: a utilization is a share of the pod's request, expected scale.pod.cpu in the scenario" \
  "policies.0.scale={manifest: $PWD/scenarios/manifests/hpa-cpu.yaml}"
set_to 0 "warning: cpu shows whether an engine has any request" \
  "policies.0.scale={manifest: $PWD/scenarios/manifests/hpa-cpu.yaml, pod: {cpu: 2}}"
expect 0 "tuned  a: no setting that was tried is better" -- compare "$work/tiny.yaml" --frontier \
  --set 'policies.0.scale={policy: queue_hpa}' --set 'policies.0.sweep={scale.waiting_per_replica: [2, 8]}'
set_to 64 "--set policies.0.scale=queue: scale.policy: found \"queue\"" policies.0.scale=queue

# Infeasible scenarios: the error names the place in the file.
sed 's/gpu: H100/gpu: A100/' "$work/tiny.yaml" >"$work/other.yaml"
expect 3 "other.yaml:3:37: no node has the GPU that the service runs on, a100_sxm" -- compare "$work/other.yaml"
set_to 3 "an SLO of 0 can never be met" service.slo.ttft=0s
set_to 3 "the cluster has no node and no pool offers one" 'cluster={}' policies.0.provision=none
set_to 3 "a pod needs 2 h100_sxm GPUs, the largest node has 1" cluster.existing=[] service.tensor_parallel=2 \
  'cluster.pools.0.offerings.0={instance: p5.4xlarge}'
set_to 3 "a gang of 2 h100_sxm GPUs that must share one node, the largest has 1" cluster.existing=[] \
  service.tensor_parallel=2 service.pods_per_replica=2 'cluster.pools.0.offerings.0={instance: p5.4xlarge}'
set_to 3 "no engine table for Llama-3.1-8B on H100 tp 3" service.tensor_parallel=3
set_to 3 "can never buy a node" policies.0.place=first_fit

# Measured points for `engine predict`.
printf 'backend,nonsense\n' >"$work/points.csv"
expect 1 "points.csv:1: the header has no column 'id'" -- engine predict --engine vllm --points "$work/points.csv"
printf 'id,backend,model_path,system,precision,mode,isl,osl,batch_size,tp_size,pp_size,attention_dp_size,silicon_ttft_ms,silicon_tpot_ms\n' >"$work/points.csv"
expect 3 "no row of engine 'vllm'" -- engine predict --points "$work/points.csv"
echo 'p,vllm,meta-llama/Llama-3.1-8B,h100_sxm,bf16,agg,128,16,4,1,1,1,40.5,6.25' >>"$work/points.csv"
expect 0 "1 measured points compared" -- engine predict --points "$work/points.csv"
expect 0 "TPOT error of the only point: " -- engine predict --points "$work/points.csv"
# A model that the bundled table lacks, with the step-time row that scripts/measure-steps makes of measured kernels.
python3 -B scripts/measure-steps fit data/step_measurements/h100-llama-3.1-8b-bf16.csv 2>/dev/null |
  sed 's/Llama-3.1-8B/Own/' >"$work/own.csv"
set_to 3 "no engine table for Own" service.model=Own
set_to 0 "Own TP1 on H100" service.model=Own service.step_times="$work/own.csv"
expect 1 "nowhere.csv: cannot be opened" -- engine predict --points "$work/points.csv" --step-times nowhere.csv
expect 0 "1 measured points compared" -- engine predict --points "$work/points.csv"
bundled=$(tail -n 1 "$work/out")
sed -i 's/^Own/Llama-3.1-8B/' "$work/own.csv"
expect 0 "1 measured points compared" -- engine predict --points "$work/points.csv" --step-times "$work/own.csv"
[[ $(tail -n 1 "$work/out") != "$bundled" ]]
judge "engine predict --step-times uses the row of the file" 0 "" $?
sed 's/,128,/,-128,/' "$work/points.csv" >"$work/negative.csv"
expect 1 "negative.csv:2:50: isl is '-128', expected a number >= 0" -- \
  engine predict --points "$work/negative.csv"

# Standard output that cannot be written.
for arguments in "version" "--help" "sim $work/tiny.yaml" "sim $work/tiny.yaml -o json" \
  "engine predict --points $work/points.csv"; do
  "$program" $arguments >/dev/full 2>"$work/out"
  judge "capstan $arguments >/dev/full" 1 "standard output: cannot be written: No space left on device" $?
  mkfifo "$work/pipe"
  : <"$work/pipe" & # a reader that opens the pipe and closes it at once
  exec 7>"$work/pipe"
  wait $!
  "$program" $arguments >&7 2>"$work/out"
  judge "capstan $arguments, into a closed pipe" 1 "" $?
  exec 7>&-
  rm "$work/pipe"
done

# Words of options are taken in any case, and as they are listed.
for arguments in "version" "sim $small" "compare $work/tiny.yaml --no-advice" "engine predict --points $work/points.csv" \
  "explain reason queue_limit" "decide place $work/word.json" "explain service --snapshot $work/word.json"; do
  [[ -e "$work/word.json" ]] || "$program" snapshot --scenario $hour --at 20m >"$work/word.json"
  "$program" $arguments -o json >"$work/lower" 2>/dev/null
  "$program" $arguments -o JSON >"$work/out" 2>/dev/null
  cmp -s "$work/lower" "$work/out" && grep -q '^{' "$work/out"
  judge "capstan $arguments -o JSON" 0 "" $?
done
expect 0 '"layer": "place"' -- decide PLACE "$work/word.json" -o Json
expect 0 '"layer": "provision"' -- decide Provision "$work/word.json" -o json
expect 64 "bind" -- decide bind "$work/word.json"
expect 0 "one bar is 1 min" -- compare $hour --no-advice --sparklines ALWAYS
judge "only add_word takes words of a list" 0 "" "$(grep -l 'CLI::IsMember' src/cli/*.cc | grep -vc 'src/cli/options.cc')"

# A run of more than a second shows its progress on standard error, even if that is a file.
"$program" compare scenarios/foresight-azure.yaml --jobs 1 --no-advice --set load.scale=80 2>"$work/out" >/dev/null
judge "progress of a run of seconds" 0 "requests · " $?

# JSON output is valid JSON, whatever the names in it.
for arguments in "version" "sim $small" "compare $hour --fail-on score<99" "engine predict --points $work/points.csv"; do
  "$program" $arguments -o json 2>/dev/null | "$valid_json" >"$work/out"
  judge "capstan $arguments -o json" 0 "" "${PIPESTATUS[1]}"
done
"$program" sim "$work/tiny.yaml" --set 'title="a \"b\" \\ ü €"' -o json | "$valid_json" >"$work/out"
judge "quotes, escapes and letters in a title" 0 "" "${PIPESTATUS[1]}"
cp "$work/points.csv" "$work"/$'n\xff"\n.csv'
printf "$azure" >"$work"/$'t\xff"\n.csv'
"$program" sim $small --trace "$work"/$'t\xff"\n.csv' -o json | "$valid_json" >"$work/out"
judge "a trace whose name is not valid UTF-8" 0 "" "${PIPESTATUS[1]}"

"$program" snapshot --scenario $hour --at 20m >"$work/incident.json"
expect 0 "replicas requested" -- decide scale "$work/incident.json"
expect 0 '"layer": "place"' -- decide place "$work/incident.json" -o json
expect 0 "16 ready at the peak" -- sim $hour --from-snapshot "$work/incident.json"
expect 64 "--service requires --from-snapshot" -- sim $hour --service chat
expect 1 "there is no service" -- sim $hour --from-snapshot "$work/incident.json" --service chat
expect 0 "present: 8 a100_sxm" -- explain "node 1" --snapshot "$work/incident.json"
expect 0 "x a100_sxm" -- explain "node 1" --snapshot "$work/incident.json" --verbose
expect 0 "raise the GPU limit of pool h100 from 7 to 8" -- explain service --scenario scenarios/seven-of-eight.yaml --at 20m
expect 0 "policy:  queue · gang · group" -- explain service --scenario $hour --policy "queue · gang · group" --at 5m
expect 0 "policy:  duty cycle · first-fit · cluster-autoscaler (the scenario's first; --policy NAME explains another)" -- explain service --scenario $hour --at 5m
expect 0 '"policy": "queue · gang · group"' -- explain service --scenario $hour --policy "queue · gang · group" --at 5m -o json
expect 0 '"policy": null' -- explain service --snapshot "$work/incident.json" -o json
expect 64 "(did you mean service?)" -- explain servise --snapshot "$work/incident.json"
expect 64 "expected --snapshot or --scenario" -- explain service
expect 64 "" -- explain service --scenario $hour --snapshot "$work/incident.json"
expect 64 "--at requires --scenario" -- explain service --at 20m
expect 64 "16 gangs (such as \"gang 0\")" -- explain unknown --snapshot "$work/incident.json"
expect 64 "expected a moment before that" -- snapshot --scenario $hour --at 30h
expect 64 "expected a duration" -- snapshot --scenario $hour --at soon
expect 64 "29:00:00: the run ends after" -- snapshot --scenario $hour --at 29:00
expect 0 "raise the GPU limit of pool h100 from 7 to 8" -- explain service --scenario scenarios/seven-of-eight.yaml --at 00:20:00
sed 's/"at_ns": /"at_ns": x/' "$work/incident.json" >"$work/broken.json"
expect 1 "broken.json:4" -- decide scale "$work/broken.json"
sed 's/"gateway_waiting":{"state":"value","value":[0-9]*,/"gateway_waiting":{"state":"value",/' "$work/incident.json" \
  >"$work/broken.json"
expect 1 'services.gateway_waiting lacks "value"' -- decide scale "$work/broken.json"
sed '/^"pods"/,/^]/s/"node":[0-9]*,//' "$work/incident.json" >"$work/broken.json"
expect 1 "pods.node: found none on a ready pod" -- explain "node 1" --snapshot "$work/broken.json"
expect 0 '"code": ' -- explain service --snapshot "$work/incident.json" -o json
expect 0 "Raise \`spec.gpus.limit\`" -- explain reason queue_limit
expect 0 '"code": "queue_limit"' -- explain reason QueueLimit -o json
expect 64 "is no reason code" -- explain reason queue
expect 64 "no object is named" -- explain --snapshot "$work/incident.json"

# Commands for a cluster, as far as they can be tested without one.
expect 64 "--at requires --scenario" -- snapshot --at 20m
expect 64 "--kubeconfig cannot be used together with --scenario" -- snapshot --scenario $hour --kubeconfig "$work/k"
expect 1 "nowhere/config: " -- run --once --kubeconfig nowhere/config
expect 1 "nowhere/config: " -- snapshot --kubeconfig nowhere/config
printf 'current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\nclusters: [{name: b, cluster: {}}]\n' >"$work/k"
expect 1 "k:3:" -- run --kubeconfig "$work/k"
printf 'current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\n' >"$work/k"
printf 'clusters: [{name: b, cluster: {server: "http://127.0.0.1:1"}}]\n' >>"$work/k"
expect 64 "'here' is not an address" -- run --kubeconfig "$work/k" --listen here
expect 64 "" -- run --once --output xml

expect 64 "expected --bind or --bind-file" -- engine serve
expect 64 "'here' is not an address" -- engine serve --bind here
expect 64 "is not a duration" -- engine serve --bind 127.0.0.1:0 --cold-start soon
expect 64 "expected --endpoint, --endpoint-file or --service" -- engine load
expect 64 "'a/b/c' is not the name of a Service" -- engine load --service a/b/c
expect 1 "kubeconfig" -- engine load --service engine --kubeconfig "$work/no-kubeconfig"
expect 64 "expected a part of it" -- engine serve --bind 127.0.0.1:0 --loading 5s
expect 3 "no engine table for Nothing-8B" -- engine serve --bind 127.0.0.1:0 --model Nothing-8B
expect 1 "192.0.2.1:80: cannot listen on this address" -- engine serve --bind 192.0.2.1:80
expect 1 "nowhere.txt: cannot be read" -- engine serve --bind-file nowhere.txt
expect 64 "" -- engine load
expect 64 "found no name before a colon" -- engine load --endpoint 127.0.0.1:1 --header sk-secret
expect 64 "--ca-file cannot be used together with --insecure" -- engine load --endpoint 127.0.0.1:1 --insecure --ca-file "$work/k"
expect 1 "holds no certificate" -- engine load --endpoint https://127.0.0.1:1 --ca-file "$work/k"
expect 1 "nowhere.csv" -- engine load --endpoint 127.0.0.1:1 --trace nowhere.csv
expect 1 "no request was answered (3 sent); the most frequent error is connect" -- engine load --endpoint 127.0.0.1:1 --limit 3 \
  --speed 1000

# An engine on a free port serves a load and then ends on a signal.
printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.1,30,4\n2023-11-16 18:15:46.9,600,2\n' >"$work/two.csv"
coproc server { exec "$program" engine serve --bind 127.0.0.1:0 --speed 20; }
server_pid=$server_PID
read -r -t 30 _ address <&"${server[0]}"
expect 0 "2 completed · 0 failed" -- engine load --endpoint "$address" --trace "$work/two.csv" --speed 20
expect 0 '"output_tokens": 6' -- engine load --endpoint "http://$address/" --trace "$work/two.csv" --speed 20 -o json
expect 1 "http_404" -- engine load --endpoint "$address" --trace "$work/two.csv" --speed 20 --model other
CAPSTAN_API_KEY=sk-secret expect 0 "2 completed · 0 failed" -- engine load --endpoint "http://$address/v1/" \
  --trace "$work/two.csv" --speed 20 --header "X-Team: search"
expect 1 "http_404" -- engine load --endpoint "$address" --trace "$work/two.csv" --speed 20 --model other \
  --api-key sk-secret
grep -q sk-secret "$work/out"
judge "a key is never printed" 1 "http_404" $?
kill -TERM "$server_pid"
wait "$server_pid"
judge "engine serve ends on SIGTERM" 0 "" $?

# `capstan serve` with a result and with a scenario, on a free port.
# fetch HOST METHOD PATH [BODY]: sends a request to the server at $url, with at most 30 s for the answer.
fetch() {
  local host=${url#http://}
  host=${host%/}
  exec {socket}<>"/dev/tcp/${host%:*}/${host##*:}"
  printf '%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
    "$2" "$3" "$1" "${#4}" "$4" >&"$socket"
  timeout 30 cat <&"$socket" >"$work/out"
  exec {socket}>&-
}
# start_serve FILE [OPTION...]: starts the server and sets server_pid and url.
start_serve() {
  coproc server { exec "$program" serve "$@" --listen 127.0.0.1:0 2>"$work/serve.err"; }
  server_pid=$server_PID url=
  read -r -t 60 url <&"${server[0]}"
}
stop_serve() {
  kill -TERM "$server_pid"
  timeout 10 tail --pid="$server_pid" -f /dev/null
  judge "capstan serve ends on SIGTERM within 10 s" 0 "" $?
  wait "$server_pid"
  judge "capstan serve ends with 0" 0 "" $?
}
"$program" compare "$work/tiny.yaml" -o json >"$work/tiny.json" 2>/dev/null
expect 0 '"fleet":' -- compare "$work/tiny.yaml" -o json --details
expect 64 "--details" -- compare "$work/tiny.yaml" --details
start_serve "$work/tiny.json"
fetch localhost GET /api/result ""
judge "serve RESULT: /api/result" 0 '"scenario": "tiny"' 0
fetch localhost GET / ""
judge "serve RESULT: the page" 0 "connect-src 'self'" 0
fetch evil.example GET / ""
judge "serve RESULT: another Host" 0 "403 Forbidden" 0
fetch localhost POST /api/what-if "{}"
judge "serve RESULT: no what-if" 0 "404 Not Found" 0
expect 1 "Address already in use" -- serve "$work/tiny.json" --listen "$(cut -d/ -f3 <<<"$url")"
stop_serve
start_serve "$work/hour.rec"
fetch localhost GET "/api/result" ""
judge "serve RECORDING: the actions" 0 '"layer":"scale","action":"scale service to' 0
state=$(grep -o '"state":[0-9]*' "$work/out" | tail -1 | cut -d: -f2)
fetch localhost GET "/api/decision?state=$state" ""
judge "serve RECORDING: the command of a decision" 0 "hour.rec --at " 0
moment=$(grep -o -- '--at [0-9a-z]*' "$work/out" | cut -d' ' -f2)
fetch localhost GET "/api/decision?state=x" ""
judge "serve RECORDING: no such state" 0 "404 Not Found" 0
stop_serve
cp "$work/hour.rec" "$work/growing.rec"
start_serve "$work/growing.rec"
host=${url#http://}
host=${host%/}
exec {socket}<>"/dev/tcp/${host%:*}/${host##*:}"
printf 'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n' >&"$socket"
head -c 5000 "$work/hour.rec" >"$work/growing.rec"
timeout 30 grep -m 1 'data: {"format_version":1,"error":".*growing.rec: ' <&"$socket" >"$work/out"
judge "serve RECORDING: a notice when the file is cut" 0 "growing.rec" $?
cp "$work/hour.rec" "$work/growing.rec"
timeout 30 grep -m 1 -E '"error":""|event: reload' <&"$socket" >"$work/out"
judge "serve RECORDING: the end of the notice" 0 "" $?
exec {socket}>&-
stop_serve
expect 0 'of "queue · gang · group"' -- replay "$work/hour.rec" --at "$moment"
expect 0 '"arithmetic": "' -- replay "$work/hour.rec" --at "$moment" -o json
expect 0 '00:16:' -- replay "$work/hour.rec" --at 00:16
expect 64 "the recording ends before this moment" -- replay "$work/hour.rec" --at 100h
expect 64 "expected a duration since the start" -- replay "$work/hour.rec" --at 33
start_serve "$work/tiny.yaml"
fetch 127.0.0.1 POST /api/what-if '{"load_factor": 2}'
judge "serve SCENARIO: what-if" 0 "--set load.scale=2" 0
fetch 127.0.0.1 GET /api/result ""
judge "serve SCENARIO: the history of the nodes" 0 '"fleet":{' 0
fetch 127.0.0.1 POST /api/what-if '{"load_factor": 20}'
judge "serve SCENARIO: a factor out of its bounds" 0 "expected a number from 0.1 to 10" 0
stop_serve
start_serve "$work/tiny.yaml" --live --speed 100000
fetch 127.0.0.1 GET /api/result ""
judge "serve --live: the start or the result" 0 '"format_version":1' 0
host=${url#http://}
host=${host%/}
exec {socket}<>"/dev/tcp/${host%:*}/${host##*:}"
printf 'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n' >&"$socket"
timeout 30 grep -m 1 "^event: ended" <&"$socket" >"$work/out"
judge "serve --live: the end" 0 "event: ended" $?
exec {socket}>&-
stop_serve
expect 64 "is no scenario" -- serve "$work/tiny.json" --live
expect 64 "is a peer's autoscaler" -- serve scenarios/azure-hour-peers.yaml --live --listen 127.0.0.1:0
expect 64 "--speed" -- serve "$work/tiny.yaml" --live --speed 0
head -c 500 "$work/tiny.json" >"$work/cut.json"
expect 1 "the JSON ends early, expected a whole result" -- serve "$work/cut.json"
expect 1 "nowhere.json: cannot be opened, expected a result, a recording or a scenario" -- serve nowhere.json
expect 64 "is no scenario, expected none of --policy" -- serve "$work/tiny.json" --seed 2
expect 64 "is not an address" -- serve "$work/tiny.json" --listen localhost
expect 64 "is no host name" -- serve "$work/tiny.json" --host http://dash.example

# `capstan top` prints a state of a cluster as one frame of a terminal.
expect 0 "GPUs: " -- top "$work/hour.rec"
expect 0 "queue · gang · group · 00:16:" -- top "$work/hour.rec" --at 16m --sort free
"$program" top "$work/hour.rec" --at 16m --sort free >"$work/lower"
"$program" top "$work/hour.rec" --at 16m --sort FREE | cmp -s - "$work/lower"
judge "capstan top --sort FREE" 0 "" $?
expect 64 "the recording ends before this moment" -- top "$work/hour.rec" --at 100h
expect 64 "expected a duration since the start" -- top "$work/hour.rec" --at 33
expect 0 "node 0  " -- top "$work/tiny.yaml" --once
expect 0 "replicas: " -- top $hour --at 20m
expect 0 "00:20:" -- top $hour --at 00:20:00
expect 64 "expected a moment before that" -- top $hour --at 30h
# The guide shows what its command prints.
"$program" top scenarios/seven-of-eight.yaml --at 15m >"$work/out" 2>&1
awk '/^capstan top .* --at 15m$/ {found = 1; next} found && /^```$/ {++fence; next} found && fence == 2' \
  docs/guides/top.md >"$work/guide.txt"
cmp -s "$work/out" "$work/guide.txt"
judge "docs/guides/top.md shows the frame that capstan top prints" 0 "pool limit: " $?
expect 0 "incident.json · " -- top "$work/incident.json"
expect 64 "has only one moment" -- top "$work/incident.json" --at 1m
expect 64 "is no scenario, expected none of --policy" -- top "$work/hour.rec" --seed 2
expect 64 "a cluster has only the present" -- top --at 1m
expect 1 "nowhere/config: " -- top --kubeconfig nowhere/config
expect 1 "tiny.json:2:4: found the key format_version of a result" -- top "$work/tiny.json"
expect 1 "nowhere.rec: " -- top nowhere.rec
head -c 9000 "$work/hour.rec" >"$work/cut.rec"
expect 1 "cut.rec: the recording was cut: 9000 of its " -- top "$work/cut.rec"
expect 1 "cut.rec: the recording was cut: 9000 of its " -- replay "$work/cut.rec"
expect 1 "cut.rec: " -- serve "$work/cut.rec" --listen 127.0.0.1:0
expect 64 "is a peer's autoscaler" -- top scenarios/azure-hour-peers.yaml
# on_terminal TEXT KEYS ARGUMENTS: runs the program on a terminal of 90 columns and 20 lines. When it has shown TEXT, or
# after 50 seconds, it receives the keys one by one.
on_terminal() {
  local text=$1 keys=$2
  shift 2
  : >"$work/out"
  {
    for _ in {1..250}; do grep -q "$text" "$work/out" && break || sleep 0.2; done
    for key in $keys; do printf -- "$key"; sleep 1; done
  } |
    TERM=xterm LC_ALL=C.UTF-8 timeout 60 script -qec "stty cols 90 rows 20; '$program' $*; stty -a" /dev/null >>"$work/out" 2>&1
}
if command -v script >/dev/null; then
  on_terminal "sort:" 's \x1b[B p q' top "$work/hour.rec"
  judge "top on a terminal: ends with a key" 0 $'\x1b[?1049h' $?
  judge "top on a terminal: restores the screen" 0 $'\x1b[?25h\x1b[?1049l' 0
  judge "top on a terminal: restores the keyboard" 0 " icanon" 0
  judge "top on a terminal: names the keys" 0 "s sort: free" 0
  judge "top on a terminal: pauses" 0 "paused" 0
  on_terminal "ended" '\x03' top "$work/tiny.yaml" --speed 1000
  judge "top on a terminal: ends on SIGINT" 0 $'\x1b[?25h\x1b[?1049l' 0
  judge "top on a terminal: shows the end of a run" 0 "ended" 0
fi

# When memory runs out, the program prints one line. A build with a sanitizer reserves terabytes of addresses and does
# not start under a limit, so the test is skipped for it.
head -c 60000000 /dev/zero | tr '\0' 'x' >"$work/large.csv"
if (ulimit -v 90000 && "$program" version) >/dev/null 2>&1; then
  (ulimit -v 90000 && "$program" engine predict --points "$work/large.csv") >"$work/out" 2>&1
  judge "memory that runs out" 1 "capstan: out of memory" $?
  judge "memory that runs out, in one line" 1 "" "$(wc -l <"$work/out")"
else
  echo "skipped: a limit on memory, because the program does not start under one"
fi
rm "$work/large.csv"

# Manifests with mistakes, fixed in place.
cat >"$work/pool.yaml" <<'YAML'
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu-inference}
spec:
  limits: {nvidia.com/gpu: 8}
  template: {spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized  # cheaper
    consolidateAfter: 30m
YAML
expect 2 "pool.yaml:8:26" -- lint "$work/pool.yaml"
expect 2 '"rule": "gpu-consolidation-underutilized"' -- lint "$work/pool.yaml" -o json
expect 2 "::warning file=" -- lint "$work/pool.yaml" -o github
expect 2 "pool.yaml:8:26: warning: WhenEmptyOrUnderutilized ends" -- lint "$work/pool.yaml" -o concise
expect 2 "1 unsafe fix (--unsafe-fixes)" -- lint "$work/pool.yaml"
expect 2 "" -- lint "$work/pool.yaml" --diff
expect 2 "+    consolidationPolicy: WhenEmpty  # cheaper" -- lint "$work/pool.yaml" --diff --unsafe-fixes
expect 2 "fixed 0 findings in 0 files" -- lint "$work/pool.yaml" --fix
expect 0 "" -- lint "$work/pool.yaml" --fail-on never
expect 0 "" -- lint "$work/pool.yaml" --fail-on NEVER
expect 0 "" -- lint "$work/pool.yaml" --fail-on Error
expect 2 "" -- lint "$work/pool.yaml" --fail-on WARNING
expect 2 '"$schema"' -- lint "$work/pool.yaml" -o SARIF
expect 0 "no finding in 1 file" -- lint "$work/pool.yaml" --rule gpu-consolidation-underutilized=off
expect 64 "did you mean gpu-consolidation-underutilized" -- lint "$work/pool.yaml" --rule gpu-consolidation-underutilised=off
expect 64 "expected 1.MINOR" -- lint "$work/pool.yaml" --kube-version 2
expect 1 "nowhere.yaml: cannot be opened" -- lint "$work/nowhere.yaml" "$work/pool.yaml"
mkdir -p "$work/nothing"
expect 1 "nothing: has no file to check, expected YAML, JSON or Markdown" -- lint "$work/nothing"
printf 'replicas: 2\n' >"$work/values.yaml"
expect 1 "values.yaml: has no Kubernetes object, expected manifests, or --allow-empty" -- lint "$work/values.yaml"
expect 0 "no finding in 1 file" -- lint "$work/values.yaml" --allow-empty
expect 1 "expected Kubernetes objects; \`capstan compare " -- lint $hour
expect 0 "1 in the baseline" -- lint "$work/pool.yaml" --write-baseline "$work/known.json"
expect 0 "1 in the baseline" -- lint "$work/pool.yaml" --baseline "$work/known.json"
expect 1 "is not a baseline" -- lint "$work/pool.yaml" --baseline "$work/pool.yaml"
expect 64 "standard input cannot be written, expected files" -- lint - --fix
expect 64 "" -- lint "$work/pool.yaml" --fix --write-baseline "$work/known.json"

# A fix follows links, preserves the mode, and makes the changes that --diff shows.
chmod 640 "$work/pool.yaml"
ln -s pool.yaml "$work/link.yaml"
cp "$work/pool.yaml" "$work/patched.yaml"
"$program" lint "$work/link.yaml" --unsafe-fixes --diff >"$work/fix.diff" 2>"$work/out"
expect 0 "fixed 1 finding in 1 file" -- lint "$work/link.yaml" --unsafe-fixes
patch --silent "$work/patched.yaml" "$work/fix.diff"
cmp "$work/patched.yaml" "$work/pool.yaml" >"$work/out" 2>&1
judge "the difference is the fix" 0 "" $?
[[ -L $work/link.yaml && $(stat -c %a "$work/pool.yaml") == 640 ]]
judge "the link and the mode stay" 0 "" $?
expect 0 "no finding in 1 file" -- lint "$work/pool.yaml"

printf '{"apiVersion": "v1",\n "kind" "Pod"}\n' >"$work/broken.json"
expect 1 "broken.json:2:9: is not JSON: found string literal, expected ':'" -- lint "$work/broken.json"
printf '\0\001{{ .Values.x }}\n' >"$work/binary.yaml"
expect 2 "error[yaml-syntax]" -- lint "$work/binary.yaml"
expect 0 "fix     set consolidationPolicy to WhenEmpty" -- lint --explain gpu-consolidation-underutilized
expect 64 "expected a rule of" -- lint --explain gpu
expect 0 "error    gpu-util-scaling-signal" -- lint --list
"$program" lint - <"$work/pool.yaml" >"$work/out" 2>&1
judge "capstan lint -" 0 "in 1 file (1 object)" $?
lsp() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"; }
{
  lsp '{"id":1,"method":"initialize","params":{}}'
  lsp '{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a.yaml","text":"a: [1\n"}}}'
  lsp '{"id":2,"method":"shutdown"}'
  lsp '{"method":"exit"}'
} | "$program" lint --lsp >"$work/out" 2>&1
judge "capstan lint --lsp" 0 '"code":"yaml-syntax"' "${PIPESTATUS[1]}"
echo "GET / HTTP/1.1" | "$program" lint --lsp >"$work/out" 2>&1
judge "capstan lint --lsp with an HTTP request" 1 "" "${PIPESTATUS[1]}"

# The page of `cost` shows what the program prints.
command= shown=
while IFS= read -r line; do
  if [[ $line == '$ capstan cost '* ]]; then
    command=${line#'$ capstan '} shown=
  elif [[ $line == '```' && -n $command ]]; then
    read -ra arguments <<<"$command"
    printf '%s' "$shown" >"$work/shown"
    "$program" "${arguments[@]}" 2>&1 | diff "$work/shown" - >"$work/out"
    judge "docs/reference/cost.md: capstan $command" 0 "" "${PIPESTATUS[1]}"
    command=
  else
    shown+=$line$'\n'
  fi
done <docs/reference/cost.md
expect 64 "--cold-start: found '4', expected a duration" -- cost consolidation --usd-per-gpu-hour 1 --cold-start 4
expect 64 "--usd-per-gpu-hour is missing" -- cost warm-pool

# Plans (src/plan tests every part).
expect 0 "services:" -- plan --example
expect 64 "SPEC.yaml is missing" -- plan
expect 1 "nowhere.yaml: cannot be read, expected a spec of a plan" -- plan nowhere.yaml
printf 'services:\n- {name: a, model: Llama-3.1-9B, slo: {ttft_p99: 1s}}\n' >"$work/model.yaml"
expect 3 "did you mean Llama-3.1-8B?" -- plan "$work/model.yaml"
printf 'services:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}}\nasked: {consolidation: WhenEmptyOrUnderutilized}\n' \
  >"$work/asked.yaml"
expect 3 "refused: asked.consolidation" -- plan "$work/asked.yaml" --out "$work/refused"
[[ ! -e $work/refused ]]
judge "a refused plan writes nothing" 0 "" $?
expect 64 "--out: found an empty text, expected a path" -- plan "$work/asked.yaml" --out ""
cat >"$work/plan.yaml" <<'END'
cluster: {zones: [a, b], instances: [p5.4xlarge]}
services:
- name: chat
  model: Llama-3.1-8B
  slo: {ttft_p99: 1s}
  load: {requests_per_second: 2, duration: 10m, burst_every: 5m, burst_length: 1m}
END
touch "$work/file"
expect 1 "file is not a folder" -- plan "$work/plan.yaml" --out "$work/file/below"
expect 1 "file: is not a folder, expected a new or an empty one" -- plan "$work/plan.yaml" --out "$work/file"
expect 1 "cannot create a new file in its folder" -- plan "$work/plan.yaml" --report "$work/nowhere/page.html"
expect 64 "--report: found the folder of --out" -- plan "$work/plan.yaml" --out "$work/both" --report "$work/./both/"
expect 1 "cannot create a new file in its folder" -- sim $hour --report "$work/nowhere/page.html"
mkdir "$work/no-manifests"
expect 1 "has no Kubernetes object, expected manifests" -- plan "$work/plan.yaml" --against "$work/no-manifests"
expect 0 "sh apply.sh" -- plan "$work/plan.yaml" --out "$work/planned/"
expect 0 "no change" -- plan "$work/plan.yaml" --against "$work/planned"

echo "$passed passed, $failed failed"
((failed == 0))
