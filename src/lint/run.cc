#include "lint/run.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "lint/consequences.h"
#include "lint/pods.h"
#include "lint/read.h"
#include "lint/rules.h"
#include "lint/set.h"
#include "lint/suppress.h"

namespace capstan::lint {
namespace {

constexpr std::size_t kMaxFileBytes = 128u << 20;

/// Calls `work(i)` for each i below `count`, on several threads.
void in_parallel(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min({threads, count, std::size_t{64}});
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 1; i < threads; ++i) workers.emplace_back(run);
  run();
}

void add(Summary& sum, const Summary& part) {
  sum.files += part.files;
  sum.documents += part.documents;
  sum.objects += part.objects;
  sum.templates += part.templates;
  sum.patches += part.patches;
}

Severity severity_of(const Rule& rule, Severity found, const Options& options) {
  const auto configured = options.severities.find(rule.id);
  if (configured != options.severities.end()) return configured->second;
  if (found == Severity::info && !options.advice) return Severity::off;
  return found;
}

/// Returns true if the options switch the rule off. A rule of severity info is never off by default, because its
/// findings may be more severe.
bool is_off(const Rule& rule, const Options& options) {
  const auto configured = options.severities.find(rule.id);
  return configured != options.severities.end() && configured->second == Severity::off;
}

void check_object(const Object& object, const Set& set, const Options& options, std::vector<Finding>& out) {
  Views views;
  const bool on_gpus = asks_for_gpu(object);
  for (const Rule* rule : rules_for(object)) {
    if (is_off(*rule, options) || (!on_gpus && concerns_only_gpus(*rule))) continue;
    rule->check(Subject(object, set, options.settings, *rule, views, out));
  }
  remove_consequences(out);
}

/// Sorts by place, then by rule. Removes all but the first finding of a rule at a place.
void sort(std::vector<Finding>& findings) {
  const auto key = [](const Finding& finding) {
    return std::tuple(std::string_view(finding.file->path), finding.span.begin, finding.span.end, finding.rule->id);
  };
  std::ranges::stable_sort(findings, {}, key);
  const auto is_same = [&](const Finding& a, const Finding& b) { return key(a) == key(b) && a.file == b.file; };
  findings.erase(std::unique(findings.begin(), findings.end(), is_same), findings.end());
}

/// Removes findings that are off, and counts the findings that only the option for advice would show.
void remove_hidden(Report& report, const Options& options) {
  std::vector<Finding> advice;
  for (Finding& finding : report.findings) {
    const bool is_configured = options.severities.find(finding.rule->id) != options.severities.end();
    if (finding.severity == Severity::off && !is_configured) advice.push_back(std::move(finding));
  }
  sort(advice);
  report.summary.hidden_advice = advice.size();
  std::erase_if(report.findings, [](const Finding& finding) { return finding.severity == Severity::off; });
}

void check(Report& report, const Options& options) {
  const Set set(report.objects, options.settings.is_complete_cluster);
  std::vector<std::vector<Finding>> found(report.objects.size());
  in_parallel(report.objects.size(), report.objects.size() < 64 ? 1 : options.threads,
              [&](std::size_t i) { check_object(report.objects[i], set, options, found[i]); });
  for (std::vector<Finding>& part : found) std::ranges::move(part, std::back_inserter(report.findings));
  for (Finding& finding : report.findings) {
    if (finding.file->is_not_applied) finding.severity = Severity::info;
    finding.severity = severity_of(*finding.rule, finding.severity, options);
  }
  // The hidden findings are removed only after this call, so that the acceptance of a hidden finding is not reported as
  // unused: with other options the finding would be shown.
  suppress(report, options);
  remove_hidden(report, options);
  sort(report.findings);
}

/// Returns a kind as kubectl names it: "Workflow.argoproj.io".
std::string qualified_kind(const Object& object) {
  return std::string(object.kind) + (object.group.empty() ? "" : "." + std::string(object.group));
}

/// Moves the readings into the report. Files with neither objects nor findings are released.
void collect(std::vector<Reading>& readings, Report& report) {
  std::size_t objects = 0;
  for (const Reading& reading : readings) objects += reading.objects.size();
  report.objects.reserve(objects);
  for (Reading& reading : readings) {
    add(report.summary, reading.summary);
    if (reading.objects.empty() && reading.findings.empty()) {
      reading.file.reset();
      continue;
    }
    for (Object& object : reading.objects) {
      object.index = static_cast<std::uint32_t>(report.objects.size());
      report.objects.push_back(object);
      if (!is_checked(object)) ++report.summary.kinds_not_read[qualified_kind(object)];
    }
    std::ranges::move(reading.findings, std::back_inserter(report.findings));
    report.files.push_back(std::move(reading.file));
  }
}

/// Releases a file that has no objects and no findings, so that it needs no memory while other files are read.
void release_if_empty(Reading& reading) {
  if (reading.objects.empty() && reading.findings.empty()) reading.file.reset();
}

}  // namespace

Report lint_files(const std::vector<Candidate>& files, const Options& options) {
  Report report;
  std::vector<Reading> readings(files.size());
  std::vector<std::optional<Error>> errors(files.size());
  in_parallel(files.size(), files.size() < 8 ? 1 : options.threads, [&](std::size_t i) {
    auto text = read_file(files[i].path == "-" ? "/dev/stdin" : files[i].path, kMaxFileBytes);
    if (!text) {
      const bool large = text.error() == FileFault::too_large;
      errors[i] = Error{ErrorKind::input, files[i].path, 0, 0, large ? "is larger than 128 MiB" : "cannot be read"};
      return;
    }
    readings[i] = read_text({files[i].path, std::move(*text), files[i].named, files[i].scope, files[i].patch,
                             files[i].deployers, files[i].patched_kinds});
    errors[i] = std::move(readings[i].broken);
    release_if_empty(readings[i]);
  });
  for (std::optional<Error>& error : errors) {
    if (error) report.unreadable.push_back(std::move(*error));
  }
  collect(readings, report);
  check(report, options);
  return report;
}

Report lint_texts(std::vector<Text> texts, const Options& options) {
  Report report;
  std::vector<Reading> readings;
  for (Text& text : texts) {
    Reading& reading = readings.emplace_back(read_text(std::move(text)));
    if (reading.broken) report.unreadable.push_back(std::move(*reading.broken));
  }
  collect(readings, report);
  check(report, options);
  return report;
}

}  // namespace capstan::lint
