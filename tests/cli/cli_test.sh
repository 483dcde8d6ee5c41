#!/usr/bin/env bash
# The program as its users meet it: exit codes, and what a mistake is told.
#   cli_test.sh PROGRAM SOURCE_DIR
set -uo pipefail
program=$1
cd "$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# expect CODE WORDS -- ARGUMENTS: the exit code, and words that standard output or error must hold.
expect() {
  local code=$1 words=$2
  shift 3
  "$program" "$@" >"$work/out" 2>&1
  local got=$?
  if [[ $got == "$code" ]] && grep -qF -- "$words" "$work/out"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: capstan %s\n  expected exit %s and "%s", found exit %s and:\n' "$*" "$code" "$words" "$got"
    head -5 "$work/out"
  fi
}

hour=scenarios/azure-hour.yaml
small=scenarios/azure-hour-8b-h100.yaml

expect 0 "capstan 0." -- version
expect 0 "compare" -- --help
expect 64 "" -- nonsense
expect 64 "" -- compare
expect 0 "eight fixed" -- sim $small
expect 0 '"format_version": 1' -- sim $small -o json
expect 0 "wins" -- compare $hour
expect 1 "nowhere.yaml" -- compare nowhere.yaml
expect 1 "nowhere.csv" -- sim $small --trace nowhere.csv
expect 1 "did you mean model?" -- sim $small --set service.modle=x
expect 3 "an SLO of 0 can never be met" -- sim $small --set service.slo.ttft=0s
expect 3 "the largest node has" -- compare $hour --set service.pods_per_replica=1 --set service.tensor_parallel=8 \
  --set cluster.pools.0.offerings.0.gpus=4 --set cluster.existing.0.gpus=4
expect 64 "expected one of" -- compare $hour --policy nobody
expect 2 "--fail-on" -- compare $hour --fail-on "score<99"

printf 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,-3,4\n' >"$work/negative.csv"
expect 1 "negative.csv:2" -- sim $small --trace "$work/negative.csv"
printf 'TIMESTAMP,ContextTokens\n' >"$work/columns.csv"
expect 1 "columns.csv" -- sim $small --trace "$work/columns.csv"
printf 'name: x\nload: [\n' >"$work/broken.yaml"
expect 1 "broken.yaml" -- sim "$work/broken.yaml"
printf 'backend,nonsense\n' >"$work/points.csv"
expect 1 "points.csv" -- engine predict --engine vllm --points "$work/points.csv"

echo "$passed passed, $failed failed"
((failed == 0))
