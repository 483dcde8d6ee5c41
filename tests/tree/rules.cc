#include "tree/rules.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace capstan::tree {
namespace {

using Scope = LineRule::Scope;

constexpr std::string_view kPureRooms[] = {"model", "engine", "bound", "fleet", "decide", "explain"};

/// The rooms whose code determines results, which must be the same bytes on every machine.
constexpr std::string_view kResultRooms[] = {"base",     "model",    "engine",     "bound",       "fleet",
                                             "decide",   "explain",  "ports",      "control",     "sim",
                                             "workload", "settings", "peers",      "promql",      "signals",
                                             "archive",  "scenario", "experiment", "conformance", "emulator"};

/// The rooms that decide and act.
constexpr std::string_view kCoreRooms[] = {"model", "fleet", "decide", "control", "bound", "actuate"};

/// The file that may read a key of a JSON object with a function that throws, because it first checks that the object
/// has the key.
constexpr std::string_view kChecksFirst[] = {"src/kube/authored_objects.cc"};

/// The only sources outside of src/cli that may print, and the only ones that may read a clock. A failed assertion
/// prints. The two sources that read a clock provide the clocks of the machine, which are passed as arguments.
constexpr std::string_view kMayPrint[] = {"src/base/assert.cc"};
constexpr std::string_view kMayReadClock[] = {"src/net/monotonic.cc", "src/kube/wall_clock.cc"};

/// Sources whose test is elsewhere, each with the reason.
constexpr std::string_view kTestedElsewhere[] = {
    // trace_test.cc tests the valid and invalid rows of each format through open_trace.
    "src/workload/csv_trace.cc",
    "src/workload/mooncake_trace.cc",
    "src/workload/scan.cc",
    // read_test.cc tests the parts of the reader through archive::parse.
    "src/archive/require_written_keys.cc",
    "src/archive/exclusion_lists.cc",
    "src/archive/read_catalog.cc",
    // services_test.cc, in the same folder, tests it.
    "src/scenario/read_queues.cc",
    // simulation_test.cc tests this part of a run.
    "src/experiment/run/observer.cc",
    // tests/kube tests these files with a server in memory.
    "src/kube/client.cc",
    "src/kube/watcher.cc",
    // tests/actuate tests these files with the in-memory server of tests/kube.
    "src/actuate/change_all.cc",
    "src/actuate/claims.cc",
    "src/actuate/action_dispatcher.cc",
    "src/actuate/evict.cc",
    "src/actuate/gang_bind.cc",
    "src/actuate/runner.cc",
    "src/actuate/scale_to.cc",
    // tests/operator tests these files with objects as an API server sends them.
    "src/operator/act/actuator.cc",
    "src/operator/view/admission.cc",
    "src/operator/snapshot/catalog_builder.cc",
    "src/operator/snapshot/claim_times.cc",
    "src/operator/view/cluster_view.cc",
    "src/operator/snapshot/eligibility_table.cc",
    "src/operator/snapshot/pod_index.cc",
    "src/operator/snapshot/pod_node.cc",
    "src/operator/view/purchase_options.cc",
    "src/operator/status/queue_status.cc",
    "src/operator/snapshot/queue_tree.cc",
    "src/operator/view/queue_view.cc",
    "src/operator/view/competing_controllers.cc",
    "src/operator/snapshot/snapshot_builder.cc",
    "src/operator/snapshot/gang_rows.cc",
    "src/operator/snapshot/service_rows.cc",
    "src/operator/snapshot/target_list.cc",
    "src/operator/snapshot/gpu_holders.cc",
    "src/operator/snapshot/claimed_gpus.cc",
    "src/operator/snapshot/other_holders.cc",
    "src/operator/snapshot/shared_gpus.cc",
    "src/operator/snapshot/incremental_pass.cc",
    "src/operator/snapshot/replica_table.cc",
    "src/operator/snapshot/view_changes.cc",
    "src/operator/memory/remembered_replicas.cc",
    "src/operator/view/scale_reader.cc",
    "src/operator/snapshot/waiting_gangs.cc",
    // tests/operator/{decision_loop,process}_test.cc tests a whole process, with a server and pods in memory.
    "src/operator/memory/checkpoint_store.cc",
    "src/operator/view/cluster_watch.cc",
    "src/operator/loop/decision_loop.cc",
    "src/operator/loop/endpoints.cc",
    "src/operator/status/gang_verdicts.cc",
    "src/operator/act/kube_world.cc",
    "src/operator/loop/metrics_page.cc",
    "src/operator/loop/process.cc",
    "src/operator/status/report.cc",
    "src/operator/loop/signal_sources.cc",
    "src/operator/loop/slo_breach.cc",
    "src/operator/status/status_writer.cc",
    // tests/operator/controller_page_test.cc tests the page of a whole process.
    "src/cli/controller_page.cc",
    // tests/cli tests the program from outside.
    "src/cli/commands.cc",
    "src/cli/conformance.cc",
    "src/cli/cost_options.cc",
    "src/cli/plan_options.cc",
    "src/cli/lint.cc",
    "src/cli/lint_options.cc",
    "src/cli/offline.cc",
    "src/cli/predict.cc",
    "src/cli/engine_load.cc",
    "src/cli/engine_options.cc",
    "src/cli/engine_serve.cc",
    "src/cli/options.cc",
    "src/cli/reason_options.cc",
    "src/cli/replay.cc",
    "src/cli/replay_options.cc",
    "src/cli/run.cc",
    "src/cli/run_options.cc",
    "src/cli/serve.cc",
    "src/cli/serve_options.cc",
    "src/cli/top.cc",
    "src/cli/top_options.cc",
};

bool in(std::string_view what, const auto& list) { return std::ranges::find(list, what) != std::end(list); }

bool is_production(const Source& s) { return s.is_cpp() && !s.room().empty() && !s.is_test(); }
bool is_pure(const Source& s) { return is_production(s) && in(s.room(), kPureRooms); }
bool is_below_cli(const Source& s) { return is_production(s) && s.room() != "cli"; }
bool may_not_print(const Source& s) { return is_below_cli(s) && !in(s.path, kMayPrint); }
bool may_not_read_clock(const Source& s) { return is_below_cli(s) && !in(s.path, kMayReadClock); }
bool reaches_results(const Source& s) { return is_production(s) && in(s.room(), kResultRooms); }
bool is_in_src(const Source& s) { return s.is_cpp() && !s.room().empty(); }
bool is_cpp_source(const Source& s) { return s.is_cpp(); }
bool is_own_header(const Source& s) { return s.is_header() && !s.room().empty(); }
bool decides(const Source& s) { return is_production(s) && (s.room() == "decide" || s.room() == "fleet"); }
bool is_core(const Source& s) { return is_production(s) && in(s.room(), kCoreRooms); }
bool looks_up(const Source& s) { return is_production(s) && !in(s.path, kChecksFirst); }
bool any_file(const Source&) { return true; }

// Words that no file may contain, this one included, are spelled in two halves.
const std::vector<LineRule> kLineRules = {
    {"impure header", "a pure room sees no file, socket, thread, log or metric: take a value as an argument",
     R"(^\s*#\s*include\s*<(fstream|iostream|istream|ostream|sstream|cstdio|stdio\.h|filesystem|thread|mutex|)"
     R"(shared_mutex|condition_variable|future|stop_token|ctime|time\.h|csignal|unistd\.h|fcntl\.h|sys/|netinet/|)"
     R"(arpa/|spdlog/|prometheus/|curl/|openssl/|httplib|sqlite3))",
     Scope::code, is_pure, "src/decide/scale/hpa.cc", "#include <fstream>", "src/workload/byte_stream.cc",
     "#include <fstream>"},
    {"system clock", "time is injected as an Instant",
     R"(\b(system_clock|steady_clock|high_resolution_clock|utc_clock|clock_gettime|gettimeofday)\b|)"
     R"(\bstd::(time|clock)\s*\()",
     Scope::code, may_not_read_clock, "src/control/loop.cc", "const auto now = std::chrono::steady_clock::now();",
     "src/net/monotonic.cc", "const auto now = std::chrono::steady_clock::now();"},
    {"output", "a library returns values; only cli prints",
     R"(\bstd::(cout|cerr|clog)\b|\b(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|perror)\s*\(|\bfmt::print\b)",
     Scope::code, may_not_print, "src/sim/meter.cc", "std::cout << unmet;", "src/base/assert.cc",
     "std::fprintf(stderr, \"broken\");"},
    {"formatting is not output", "a library returns values; only cli prints", R"(\bstd::(print|println)\b)",
     Scope::code, may_not_print, "src/sim/meter.cc", "std::println(\"{}\", unmet);", "src/sim/meter.cc",
     "std::snprintf(buffer, sizeof buffer, \"%d\", unmet);"},
    {"exit", "a library never ends the process: return an Error, or assert",
     R"(\bstd::(exit|abort|quick_exit|terminate)\b|\b_exit\s*\()", Scope::code, may_not_print, "src/workload/azure.cc",
     "if (!ok) std::exit(1);", "src/cli/main.cc", "std::exit(64);"},
    {"standard randomness", "draw from a named base/random stream: the standard's differ between libraries",
     R"(\bstd::\w+_distribution\b|\b(random_device|mt19937|mt19937_64|minstd_rand|default_random_engine)\b|)"
     R"(\bstd::(shuffle|random_shuffle|sample|rand|srand)\b|#\s*include\s*<random>)",
     Scope::code, is_in_src, "src/workload/poisson.cc", "std::exponential_distribution<double> gap(rate);",
     "src/workload/poisson.cc", "const double gap = stream.exponential() / rate;"},
    {"libm function", "use base/portable_math: the C library's last bit depends on the processor",
     R"((^|[^\w.>:])(std::|::)?(sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|exp2|expm1|log|log2|log10|log1p|)"
     R"(pow|cbrt|hypot|erf|erfc|tgamma|lgamma|fma|sinf|cosf|expf|logf|powf)\s*\(\s*[^)\s])",
     Scope::code, reaches_results, "src/workload/diurnal.cc", "return std::sin(phase);", "src/workload/diurnal.cc",
     "return std::sqrt(portable_log(phase)) + forecast.log(3) + log_normal(1, 2) + log();"},
    {"floating-point of the machine", "results never depend on the rounding mode or the processor",
     R"(\b(fesetround|__builtin_fma|ffast-math)\b|\blong\s+double\b)", Scope::code, reaches_results,
     "src/engine/step.cc", "long double sum = 0;", "src/engine/step_test.cc", "long double sum = 0;"},
    {"unordered container", "decisions iterate in a stated order: use a sorted vector, a map or a table by id",
     R"(\bunordered_(map|set|multimap|multiset)\b)", Scope::code, decides, "src/decide/place/fit.cc",
     "std::unordered_map<int, int> free;", "src/sim/router.cc", "std::unordered_map<int, int> cached;"},
    {"pointer order", "the order of addresses differs from run to run: order by id",
     R"(\bstd::(map|set)\s*<\s*(const\s+)?[\w:]+\s*\*)", Scope::code, reaches_results, "src/decide/place/fit.cc",
     "std::set<const Node*> seen;", "src/decide/place/fit.cc", "std::map<NodeId, const Node*> by_id;"},
    {"throwing lookup", "a missing row is a broken invariant: use known_row, which asserts, or find",
     // The tables of a snapshot and the rows of the stores of objects are SharedTables, whose `at` asserts.
     // `SlotQueue` and a series of readings have an `at` of their own, and the `at` of simdjson does not throw. The
     // `at` of manifest::LineTable returns the last line for an offset past the end.
     R"((\.|->)at\()", Scope::code, looks_up, "src/plan/search/search.cc",
     "total += f(snapshot_.pods.at(id)) + fleets.at(id.value);", "src/decide/place/fit.cc",
     "total += f(snapshot_.pods.at(id), next->snapshot.gangs.at(id), now.at, decide_at(2), file.lines().at(4));",
     R"(\b((snapshot|rows|truth)(_|\(\))?|last_|cluster_?)\.(services|nodes|claims|gangs|pods|signals)\.at\()"
     R"(|\b(rows|table)\.at\(|\bseries_->at\(|\bqueue_\.at\(|\blines(\(\))?\.at\(|\b(parts|result)\.at\()"},
    {"explanation read back", "decide by the values from which the explanation is made",
     R"(\bsizing->|\b(action|decision|decided)\.why\.|\.reading\.(wanted|valid)\s*[<>&|)])", Scope::code, is_core,
     "src/decide/scale/roles.cc", "return part.decision.sizing->lead < limits.conversion;", "src/decide/scale/roles.cc",
     "rule.reading.wanted = rule.wanted = 3; action.why = {}; decision.sizing = sizing_of(step);"},
    {"heavy header", "every file that includes our header would compile it too: keep it in the .cc",
     R"(^\s*#\s*include\s*<(nlohmann/json\.hpp|libfyaml\.h|fmt/|regex|CLI/|spdlog/|httplib|curl/|iostream|)"
     R"(simdjson\.h|re2/))",
     Scope::code, is_own_header, "src/workload/reader.h", "#include <nlohmann/json.hpp>", "src/workload/reader.cc",
     "#include <nlohmann/json.hpp>"},
    {"sleep", "wait for a state, never for time", R"(\bsleep_(for|until)\b|\b(usleep|nanosleep)\s*\()", Scope::code,
     is_cpp_source, "src/control/loop_test.cc", "std::this_thread::sleep_for(1s);", "src/control/loop_test.cc",
     "clock.advance(1s);"},
    {"eager condition", "RC_ASSERT evaluates both sides of || and &&: write RC_ASSERT((a || b))",
     R"(\bRC_ASSERT\([^(].*(\|\||&&))", Scope::code, is_cpp_source, "src/base/a_test.cc",
     "RC_ASSERT(list.empty() || list.front() > 0);", "src/base/a_test.cc",
     "RC_ASSERT((list.empty() || list.front() > 0));"},
    {"leftover", "finish it, or say it in the issue",
     "\\b(TO"
     "DO|FIX"
     "ME|XX"
     "X|HA"
     "CK)\\b|\\bplace"
     "holder\\b|\\bnot imple"
     "mented\\b|\\bfor n"
     "ow,",
     Scope::text, any_file, "docs/architecture.md",
     "TO"
     "DO: draw it",
     "docs/architecture.md", "a todo list is not a marker",
     "\\bplace"
     "holder="},  // the attribute of an input field
    {"machine path", "a file must not name a path of one machine",
     "(^|[\\s\"'=(])/(wo"
     "rk|ho"
     "me|Us"
     "ers)/",
     Scope::text, any_file, "scripts/bench",
     "cd /ho"
     "me/me/capstan",
     "scripts/bench",
     "cd ../home/me /ho"
     "me/kubernetes/bin",
     "/ho"
     "me/kubernetes/"},  // a folder of every node of GKE
    {"tab or trailing space", "spaces only, none at the end", "\\t|[ \\r]$", Scope::text, is_cpp_source,
     "src/base/time.h", "int a; ", "src/base/time.h", "int a;"},
};

/// The compiled expressions of a rule.
class LinePattern {
 public:
  explicit LinePattern(const LineRule& rule) : forbidden_(rule.pattern) {
    if (rule.allowed) allowed_.emplace(rule.allowed);
  }

  bool is_in(const std::string& line) const {
    if (!RE2::PartialMatch(line, forbidden_)) return false;
    if (!allowed_) return true;
    std::string rest = line;
    RE2::GlobalReplace(&rest, *allowed_, "");
    return RE2::PartialMatch(rest, forbidden_);
  }

 private:
  RE2 forbidden_;
  std::optional<RE2> allowed_;
};

/// Counts the characters of a UTF-8 line.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; }));
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

std::string without_ending(std::string_view path) { return std::string(path.substr(0, path.rfind('.'))); }

/// Returns the headers of its room that a source includes, without their extensions: "src/sim/cluster/cluster".
std::vector<std::string> own_headers(const Source& source) {
  std::vector<std::string> stems;
  const std::string prefix = "#include \"" + std::string(source.room()) + "/";
  for (const std::string& line : source.code) {
    if (line.starts_with(prefix)) stems.push_back("src/" + without_ending(line.substr(10, line.rfind('"') - 10)));
  }
  return stems;
}

std::size_t indentation(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

/// Finds long functions by their indentation. A closing brace alone on its line, indented by at most two spaces, ends
/// a function or a block inside a function. Both begin at the nearest line above that is indented no deeper.
std::vector<Finding> check_functions(const Source& source) {
  std::vector<Finding> findings;
  for (std::size_t end = 0; end < source.code.size(); ++end) {
    const std::string& line = source.code[end];
    const std::size_t level = indentation(line);
    if (level > 2 || line.substr(level, line.find_last_not_of(' ') + 1 - level) != "}") continue;
    std::size_t begin = end;
    while (begin > 0 && (is_blank(source.code[begin - 1]) || indentation(source.code[begin - 1]) > level)) --begin;
    const std::size_t length = end + 1 - begin + (begin > 0 ? 1 : 0);
    if (length > kMaxFunctionLines) {
      findings.push_back({source.path, begin, "a function of " + std::to_string(length) + " lines, more than 70"});
    }
  }
  return findings;
}

/// Adds the headers of its room that `source` includes, directly or through other headers.
void note_headers(const Source& source, const std::map<std::string, const Source*>& by_path,
                  std::set<std::string>& reached) {
  for (const std::string& stem : own_headers(source)) {
    const auto header = by_path.find(stem + ".h");
    if (reached.insert(stem).second && header != by_path.end()) note_headers(*header->second, by_path, reached);
  }
}

/// Returns the stem of the header that a source implements: the header of the same name if there is one, otherwise the
/// first header of its room that it includes. For example, consolidate.cc of decide/provision implements steps.h.
std::string implemented(const Source& source, const std::map<std::string, const Source*>& by_path) {
  const std::string stem = without_ending(source.path);
  const std::vector<std::string> headers = own_headers(source);
  return by_path.contains(stem + ".h") || headers.empty() ? stem : headers.front();
}

}  // namespace

const std::vector<LineRule>& line_rules() { return kLineRules; }

std::vector<Finding> check_lines(const Source& source) {
  static const std::vector<LinePattern> patterns(kLineRules.begin(), kLineRules.end());
  std::vector<Finding> findings;
  for (std::size_t r = 0; r < kLineRules.size(); ++r) {
    const LineRule& rule = kLineRules[r];
    if (!rule.applies(source)) continue;
    const std::vector<std::string>& lines = rule.scope == Scope::code ? source.code : source.lines;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (patterns[r].is_in(lines[i])) {
        findings.push_back({source.path, i + 1, std::string(rule.name) + ": " + rule.expected_alternative});
      }
    }
  }
  return findings;
}

std::vector<Finding> check_shape(const Source& source) {
  std::vector<Finding> findings;
  const bool script = source.path.starts_with("scripts/") || source.path.starts_with(".ci/");
  if (!source.is_cpp() && !script) return findings;
  if (is_production(source)) findings = check_functions(source);
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    if (columns(source.lines[i]) > kMaxColumns) findings.push_back({source.path, i + 1, "longer than 120 columns"});
  }
  if (source.lines.size() > kMaxLines) findings.push_back({source.path, 0, "more than 600 lines: is it one concept?"});
  if (source.is_header()) {
    const auto first = std::ranges::find_if_not(source.code, is_blank);
    if (first == source.code.end() || *first != "#pragma once") {
      findings.push_back({source.path, 1, "a header begins with #pragma once"});
    }
  }
  return findings;
}

std::vector<Finding> check_tested(const std::vector<Source>& tree) {
  std::map<std::string, const Source*> by_path;
  std::set<std::string> tested;  // stems of headers that a test of their room includes, directly or indirectly
  for (const Source& source : tree) by_path[source.path] = &source;
  for (const Source& source : tree) {
    if (source.is_test() && !source.room().empty()) note_headers(source, by_path, tested);
  }
  std::vector<Finding> findings;
  for (const Source& source : tree) {
    if (!is_production(source) || source.is_header()) continue;
    const std::string stem = without_ending(source.path);
    if (by_path.contains(stem + "_test.cc") || tested.contains(implemented(source, by_path))) continue;
    if (stem.ends_with("/main") || in(source.path, kTestedElsewhere)) continue;
    findings.push_back({source.path, 0, "no test beside it: expected " + stem + "_test.cc"});
  }
  return findings;
}

std::vector<Finding> check_exceptions(const std::vector<Source>& tree) {
  std::vector<Finding> findings;
  const auto check = [&](const auto& paths) {
    for (const std::string_view path : paths) {
      if (std::ranges::find(tree, path, &Source::path) != tree.end()) continue;
      findings.push_back({std::string(path), 0, "is an exception to a rule, but does not exist"});
    }
  };
  check(kChecksFirst);
  check(kMayPrint);
  check(kMayReadClock);
  check(kTestedElsewhere);
  return findings;
}

}  // namespace capstan::tree
