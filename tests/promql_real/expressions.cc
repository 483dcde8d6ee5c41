#include "expressions.h"

#include <iterator>

namespace capstan::test {
namespace {

using Words = std::vector<std::string>;

const std::string& pick(RandomStream& random, const Words& words) { return words[random.below(words.size())]; }

const Words kMetrics = {"requests_total", "tokens_total",       "running", "kv_usage", "odd", "gateway_queue",
                        "constant",       "ttft_seconds_bucket"};
const Words kMatchers = {"",
                         "{}",
                         "{model_name=\"m\"}",
                         "{pod=~\"chat-[0-2]\"}",
                         "{pod!=\"chat-1\",model_name!~\"n.*\"}",
                         "{pod=\"\"}",
                         "{zone=~\".+|\"}"};
const Words kShifts = {"", "", "", "", " offset 5m", " offset -1m", " @ 1700001500", " @ end() offset 2m"};
const Words kRanges = {"1m", "2m30s", "5m", "17s", "15s", "20m"};
const Words kLabels = {"model_name", "pod", "model_name,pod", "le", "zone", ""};
const Words kRangeFunctions = {"rate",
                               "increase",
                               "delta",
                               "irate",
                               "idelta",
                               "deriv",
                               "sum_over_time",
                               "avg_over_time",
                               "min_over_time",
                               "max_over_time",
                               "count_over_time",
                               "last_over_time",
                               "changes",
                               "present_over_time",
                               "stdvar_over_time",
                               "stddev_over_time",
                               "resets",
                               "absent_over_time"};
const Words kVectorFunctions = {"abs",  "ceil",   "floor", "round",     "sgn",
                                "sqrt", "absent", "sort",  "sort_desc", "timestamp"};
const Words kAggregations = {"sum", "avg", "min", "max", "count", "group", "stddev", "stdvar"};
const Words kOperators = {"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "== bool", "> bool"};
const Words kSetOperators = {"and", "or", "unless"};
const Words kNumbers = {"0", "1", "0.5", "-2", "3.25", "1e3", "NaN", "Inf", "0x10"};

std::string vector(RandomStream& random, int depth);

std::string selector(RandomStream& random) { return pick(random, kMetrics) + pick(random, kMatchers); }

std::string range(RandomStream& random, int depth) {
  if (depth > 0 && random.below(5) == 0) {
    return "(" + vector(random, depth - 1) + ")[" + pick(random, kRanges) + ":30s]" + pick(random, kShifts);
  }
  return selector(random) + "[" + pick(random, kRanges) + "]" + pick(random, kShifts);
}

std::string scalar(RandomStream& random, int depth) {
  if (depth > 0 && random.below(6) == 0) return "scalar(" + vector(random, depth - 1) + ")";
  return random.below(12) == 0 ? "time()" : pick(random, kNumbers);
}

std::string modifier(RandomStream& random) {
  if (random.below(3) == 0) return "";
  std::string out = random.below(2) == 0 ? " on (" : " ignoring (";
  out += pick(random, kLabels) + ")";
  if (random.below(3) == 0) out += random.below(2) == 0 ? " group_left (le)" : " group_right ()";
  return out;
}

std::string binary(RandomStream& random, int depth) {
  const std::string left = "(" + vector(random, depth - 1) + ")";
  switch (random.below(4)) {
    case 0:
      return left + " " + pick(random, kOperators) + " " + scalar(random, depth - 1);
    case 1:
      return scalar(random, depth - 1) + " " + pick(random, kOperators) + " " + left;
    case 2:
      return left + " " + pick(random, kSetOperators) + " on (" + pick(random, kLabels) + ") (" +
             vector(random, depth - 1) + ")";
    default:
      return left + " " + pick(random, kOperators) + modifier(random) + " (" + vector(random, depth - 1) + ")";
  }
}

std::string aggregation(RandomStream& random, int depth) {
  const std::string grouping =
      random.below(3) == 0 ? "" : (random.below(2) == 0 ? " by (" : " without (") + pick(random, kLabels) + ")";
  const std::string of = vector(random, depth - 1);
  if (random.below(6) == 0) return "quantile" + grouping + " (" + scalar(random, 0) + ", " + of + ")";
  return pick(random, kAggregations) + grouping + " (" + of + ")";
}

std::string vector(RandomStream& random, int depth) {
  if (depth <= 0) return selector(random) + pick(random, kShifts);
  switch (random.below(8)) {
    case 0:
      return aggregation(random, depth);
    case 1:
    case 2:
      return binary(random, depth);
    case 3:
      return pick(random, kRangeFunctions) + "(" + range(random, depth) + ")";
    case 4:
      return pick(random, kVectorFunctions) + "(" + vector(random, depth - 1) + ")";
    case 5:
      return "histogram_quantile(" + scalar(random, 0) + ", sum by (le, model_name) (rate(ttft_seconds_bucket[" +
             pick(random, kRanges) + "])))";
    case 6:
      return "-(" + vector(random, depth - 1) + ")";
    default:
      return aggregation(random, depth);
  }
}

}  // namespace

std::vector<std::string> written_expressions() {
  return {
      "1 + 2 * 3 ^ 2 % 5",
      "\"text\"",
      "vector(time())",
      "running",
      "running and and or or or by offset 1m",
      "running[1m]",
      "{__name__=~\"run.*|kv.*\"}",
      "sum(running) / count(running)",
      "avg(kv_usage) by (model_name) * 100 > 40",
      "sum(rate(requests_total[2m]))",
      "sum by (model_name) (rate(tokens_total[5m])) / sum by (model_name) (rate(requests_total[5m]))",
      "histogram_quantile(0.95, sum by (le) (rate(ttft_seconds_bucket[5m])))",
      "histogram_quantile(0.99, rate(ttft_seconds_bucket[1m]))",
      "histogram_quantile(0.5, ttft_seconds_bucket{le!=\"+Inf\"})",
      "max(max_over_time(kv_usage[1m]))",
      "max_over_time(sum(running)[10m:1m])",
      "quantile_over_time(0.9, running[10m])",
      "predict_linear(running[10m], 600)",
      "topk(2, running + 0.001 * kv_usage)",
      "bottomk(3, kv_usage)",
      "topk(0, kv_usage)",
      "topk by (model_name) (1, kv_usage)",
      "quantile(0.9, kv_usage)",
      "count_values(\"number\", constant * vector(1))",
      "count_values by (model_name) (\"number\", running)",
      "clamp(running, 1, 3)",
      "clamp_min(running, 2)",
      "clamp_max(odd, 5)",
      "clamp(running, 3, 1)",
      "round(odd, 0.25)",
      "label_replace(running, \"number\", \"$1/${0}\", \"pod\", \"chat-(.*)\")",
      "label_replace(running, \"pod\", \"same\", \"pod\", \".*\")",
      "label_join(running, \"both\", \"-\", \"pod\", \"model_name\")",
      "absent(nothing{pod=\"a\",model_name=~\"b\"})",
      "absent(running)",
      "absent_over_time(nothing{pod=\"a\"}[5m])",
      "running + on (pod) group_left (model_name) kv_usage",
      "running * on (model_name) group_left () sum by (model_name) (kv_usage)",
      "sum by (model_name) (kv_usage) - on (model_name) group_right () running",
      "running + on (model_name) kv_usage",
      "running > kv_usage",
      "running > bool kv_usage",
      "running and on (pod) kv_usage > 0.5",
      "running or gateway_queue",
      "running unless on (pod) kv_usage > 0.5",
      "-running ^ 2",
      "running ^ 0.5",
      "2 ^ running",
      "(odd < 0) ^ 1.5",
      "ln(running + 1)",
      "log2(tokens_total)",
      "log10(tokens_total)",
      "exp(kv_usage)",
      "exp(odd)",
      "timestamp(running)",
      "timestamp(running offset 1m)",
      "timestamp(sum(running))",
      "scalar(gateway_queue) + 1",
      "scalar(running)",
      "rate(requests_total[1m] offset 30s)",
      "rate(requests_total[1m] @ 1700001234.5)",
      "rate(sum(requests_total)[10m:])",
      "sum_over_time(rate(requests_total[1m])[5m:15s] offset 1m)",
      "gateway_queue @ start()",
      "sum(running) without (pod)",
      "sum({__name__=\"running\"})",
      "sort(kv_usage)",
      "changes(running[10m])",
      "running == bool running",
      "1 > bool 2",
      "sum(nothing)",
      "count(nothing) or vector(0)",
      "max by (pod) (max_over_time(kv_usage{pod=~\"chat-.*\"}[1m]))",
  };
}

std::string random_expression(RandomStream& random) { return vector(random, 3); }

}  // namespace capstan::test
