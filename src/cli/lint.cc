#include "cli/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <utility>

#include "base/file.h"
#include "base/replace_file.h"
#include "cli/stop_signal.h"
#include "cli/terminal.h"
#include "lint/baseline.h"
#include "lint/config.h"
#include "lint/explain_rule.h"
#include "lint/fix.h"
#include "lint/fix_files.h"
#include "lint/input/kustomize.h"
#include "lint/lsp/language_server.h"
#include "lint/render/render.h"
#include "lint/rules.h"
#include "manifest/object_instead.h"

namespace capstan::cli {
namespace {

constexpr std::size_t kMaxConfigBytes = 1u << 20;
constexpr int kMemoryStep = 1 << 20;  // bytes by which the heap grows
constexpr Duration kClusterPoll = std::chrono::milliseconds(50);
constexpr std::size_t kMaxBaselineBytes = 256u << 20;

/// Returns the error as a usage error about this option.
Error about_option(Error error, std::string option) {
  error.file = std::move(option);
  error.kind = ErrorKind::usage;
  return error;
}

/// Reads the configuration with this path. If the path is empty, reads the file of the current folder, or returns the
/// defaults if there is none.
Result<lint::Config> read_config(const std::string& path) {
  const std::string file = path.empty() ? lint::kConfigFile : path;
  const auto text = read_file(file, kMaxConfigBytes);
  if (text) return lint::parse_config(*text, file);
  if (path.empty() && text.error() == FileFault::cannot_open) return lint::Config{};
  return std::unexpected(Error{ErrorKind::input, file, 0, 0, "cannot be read, expected a configuration file of lint"});
}

Result<void> read_severities(const LintArguments& arguments, lint::Options& options) {
  for (const std::string& text : arguments.rules) {
    const std::size_t equals = text.find('=');
    const std::string id = text.substr(0, equals);
    if (lint::find_rule(id) == nullptr) return std::unexpected(lint::no_such_rule(id));
    const auto severity = lint::severity_named(equals == text.npos ? "" : std::string_view(text).substr(equals + 1));
    if (!severity) return std::unexpected(about_option(severity.error(), "--rule " + text));
    options.severities[id] = *severity;
  }
  return {};
}

/// Returns the configuration, completed by the options of the command line.
Result<lint::Config> config_of(const LintArguments& arguments) {
  Result<lint::Config> config = read_config(arguments.config);
  if (!config) return config;
  lint::Options& options = config->options;
  options.advice = options.advice || arguments.advice;
  options.threads = arguments.jobs;
  options.settings.is_complete_cluster = options.settings.is_complete_cluster || arguments.is_complete_cluster;
  std::ranges::copy(arguments.exclude, std::back_inserter(config->exclude));
  if (auto read = read_severities(arguments, options); !read) return std::unexpected(read.error());
  if (arguments.kube_version.empty()) return config;
  const auto version = lint::parse_kube_version(arguments.kube_version);
  if (!version) return std::unexpected(about_option(version.error(), "--kube-version"));
  options.settings.kube = *version;
  return config;
}

std::string render(const LintArguments& arguments, const lint::Report& report) {
  if (arguments.statistics) return lint::to_statistics(report);
  if (arguments.output == "json") return lint::to_json(report);
  if (arguments.output == "sarif") return lint::to_sarif(report, CAPSTAN_VERSION);
  if (arguments.output == "github") return lint::to_github(report);
  if (arguments.output == "junit") return lint::to_junit(report);
  if (arguments.output == "concise") return lint::to_concise(report);
  return lint::to_text(report, wants_color());
}

ExitCode explain(const std::string& id) {
  const lint::Rule* rule = lint::find_rule(id);
  return rule == nullptr ? report(lint::no_such_rule(id)) : print(lint::explain_rule(*rule));
}

/// Prints a summary on a terminal if the report itself is written for a program.
void print_summary(const LintArguments& arguments, const lint::Report& found) {
  if (arguments.output == "text" || !errors_are_terminal()) return;
  std::fputs((lint::summary_text(found) + "\n").c_str(), stderr);
}

ExitCode judge(const LintArguments& arguments, const lint::Report& found) {
  if (!found.unreadable.empty()) return kError;
  if (!arguments.fail_on) return kOk;
  const auto counts = [&](const lint::Finding& finding) { return finding.severity >= *arguments.fail_on; };
  return std::ranges::any_of(found.findings, counts) ? kFindings : kOk;
}

/// Lints the objects of the cluster. Each kind that cannot be listed becomes an error of the report.
lint::Report read_cluster_and_lint(const LintArguments& arguments, const lint::Config& config) {
  catch_stop_signals();
  lint::Report found;
  const Result<std::unique_ptr<kube::Session>> session = kube::open_session(arguments.cluster);
  if (!session) {
    found.unreadable.push_back(session.error());
    return found;
  }
  const std::vector<std::string_view> kinds = lint::checked_kinds();
  kube::AuthoredObjects objects((*session)->client, (*session)->clock, {kinds.begin(), kinds.end()},
                                arguments.cluster.ns);
  while (!objects.done() && stop_signals() == 0) {
    objects.run_once();
    (*session)->client.run_once();
    (*session)->http.run_once(kClusterPoll);
  }
  lint::Options options = config.options;
  // If all namespaces are read, an object that is referred to but was not found does not exist.
  options.settings.is_complete_cluster = options.settings.is_complete_cluster || arguments.cluster.ns.empty();
  found = lint::lint_texts(cluster_texts(objects.take_objects()), options);
  found.unreadable = objects.refused();
  if (stop_signals() != 0) found.unreadable.push_back({ErrorKind::input, "the cluster", 0, 0, "interrupted"});
  return found;
}

/// Returns the error for a run without input: a CI check that reads no file must not pass.
Error nothing_to_read(const std::vector<std::string>& paths) {
  return {ErrorKind::input, fmt::format("{}", fmt::join(paths, ", ")), 0, 0,
          "has no file to check, expected YAML, JSON or Markdown"};
}

/// Returns the error for files without any Kubernetes object. If the only file is another input of Capstan, the error
/// names the command that reads it.
Error no_object(const std::vector<std::string>& paths, const lint::FoundFiles& files) {
  if (files.files.size() == 1 && files.files.front().path != "-") {
    const Result<manifest::Node> root = manifest::parse_file(files.files.front().path);
    const auto other = root ? manifest::other_input_instead_of(*root, manifest::InputFile::manifests) : std::nullopt;
    if (other) return *other;
  }
  return {ErrorKind::input, fmt::format("{}", fmt::join(paths, ", ")), 0, 0,
          "has no Kubernetes object, expected manifests, or --allow-empty"};
}

/// Returns true if no file has anything to check: neither an object nor a part of one.
bool is_empty(const lint::Report& found) {
  const lint::Summary& sum = found.summary;
  return sum.objects == 0 && sum.templates == 0 && sum.patches == 0 && sum.suppressed == 0 && found.findings.empty() &&
         found.unreadable.empty();
}

lint::Report read_and_lint(const LintArguments& arguments, const lint::Config& config) {
  if (arguments.live) return read_cluster_and_lint(arguments, config);
  const std::vector<std::string> paths = arguments.paths.empty() ? std::vector<std::string>{"."} : arguments.paths;
  lint::FoundFiles files = lint::find_files(paths, config.exclude);
  if (files.files.empty() && files.unreadable.empty()) files.unreadable.push_back(nothing_to_read(paths));
  lint::follow_kustomizations(files);
  lint::Report found = lint::lint_files(files.files, config.options);
  std::ranges::move(files.unreadable, std::back_inserter(found.unreadable));
  if (is_empty(found) && !arguments.allow_empty) found.unreadable.push_back(no_object(paths, files));
  return found;
}

/// Removes the findings of the baseline, or writes all findings as a new baseline.
ExitCode use_baseline(const LintArguments& arguments, lint::Report& found) {
  if (!arguments.write_baseline.empty()) {
    const Result<void> written = replace_file(arguments.write_baseline, lint::baseline_of(found));
    found.summary.in_baseline = found.findings.size();
    found.findings.clear();
    return written ? kOk : report(written.error());
  }
  if (arguments.baseline.empty()) return kOk;
  const auto text = read_file(arguments.baseline, kMaxBaselineBytes);
  if (!text) return report({ErrorKind::input, arguments.baseline, 0, 0, "cannot be read, expected a baseline"});
  const Result<void> subtracted = lint::subtract_baseline(found, *text, arguments.baseline);
  return subtracted ? kOk : report(subtracted.error());
}

lint::FixSafety wanted_fixes(const LintArguments& arguments) {
  return arguments.unsafe_fixes ? lint::FixSafety::unsafe : lint::FixSafety::safe;
}

/// Refuses to fix standard input, because there is no file to write.
Result<void> check_fix_arguments(const LintArguments& arguments) {
  if (arguments.diff || (!arguments.fix && !arguments.unsafe_fixes)) return {};
  if (std::ranges::find(arguments.paths, "-") == arguments.paths.end()) return {};
  return std::unexpected(Error{ErrorKind::usage, arguments.fix ? "--fix" : "--unsafe-fixes", 0, 0,
                               "standard input cannot be written, expected files, or --diff to see the changes"});
}

ExitCode print_diff(const LintArguments& arguments, const lint::Report& found) {
  const std::vector<lint::FixedFile> files = lint::apply_fixes(found, wanted_fixes(arguments));
  std::fputs(lint::fix_notes(files).c_str(), stderr);
  return print(lint::diff_of(files));
}

/// Edits the files and lints them again, so that the report holds the findings that remain.
ExitCode fix(const LintArguments& arguments, const lint::Config& config, lint::Report& found) {
  const std::vector<lint::FixedFile> files = lint::apply_fixes(found, wanted_fixes(arguments));
  const std::vector<Error> errors = lint::write_fixes(files);
  std::fputs(lint::fix_notes(files).c_str(), stderr);
  if (errors.empty()) std::fputs(lint::fixed_words(files).c_str(), stderr);
  found = read_and_lint(arguments, config);
  std::ranges::copy(errors, std::back_inserter(found.unreadable));
  return use_baseline(arguments, found);
}

/// Serves an editor until it sends `exit` or closes standard input.
ExitCode serve_editor(const lint::Options& options) {
  lint::LanguageServer server(options);
  lint::FrameReader reader;
  std::string bytes(1u << 16, '\0');
  while (!server.ended()) {
    const ssize_t size = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    std::vector<std::string> messages;
    if (!reader.take(std::string_view(bytes).substr(0, static_cast<std::size_t>(size)), messages)) {
      return report({ErrorKind::input, "standard input", 0, 0, "is not a stream of the Language Server Protocol"});
    }
    for (const std::string& message : messages) {
      for (const std::string& reply : server.take(message)) {
        if (const ExitCode printed = print(lint::frame(reply)); printed != kOk) return printed;
      }
    }
  }
  return server.shut_down() ? kOk : kError;
}

}  // namespace

std::vector<lint::Text> cluster_texts(std::vector<kube::AuthoredObject> objects) {
  std::vector<lint::Text> texts;
  for (kube::AuthoredObject& object : objects) {
    texts.push_back({.path = std::move(object.name),
                     .text = std::move(object.text),
                     .named = true,
                     .scope = "cluster",
                     .deployers = {0}});
  }
  return texts;
}

ExitCode lint(const LintArguments& arguments) {
  if (arguments.list) return print(lint::rules_list());
  if (!arguments.explain.empty()) return explain(arguments.explain);
  if (const Result<void> checked = check_fix_arguments(arguments); !checked) return report(checked.error());
  const Result<lint::Config> config = config_of(arguments);
  if (!config) return report(config.error());
  if (arguments.lsp) return serve_editor(config->options);
  mallopt(M_TOP_PAD, kMemoryStep);  // the memory of lint only grows, so the heap grows in large steps
  // The report is never destroyed: the end of the process frees its memory faster.
  static lint::Report& found = *new lint::Report;
  found = read_and_lint(arguments, *config);
  if (const ExitCode applied = use_baseline(arguments, found); applied != kOk) return applied;
  if (!arguments.diff && (arguments.fix || arguments.unsafe_fixes)) {
    if (const ExitCode fixed = fix(arguments, *config, found); fixed != kOk) return fixed;
  }
  for (const Error& error : found.unreadable) report(error);
  const ExitCode printed = arguments.diff ? print_diff(arguments, found) : print(render(arguments, found));
  print_summary(arguments, found);
  return printed != kOk ? printed : judge(arguments, found);
}

}  // namespace capstan::cli
