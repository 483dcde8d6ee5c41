#include "lint/explain_rule.h"

#include <fmt/format.h>

#include "lint/rules.h"

namespace capstan::lint {
namespace {

std::string indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out += line.empty() ? "\n" : "    " + std::string(line) + "\n";
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return out;
}

/// Breaks a text into lines of at most `width` characters. All lines but the first are indented.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out, line;
  const auto flush = [&] {
    out += (out.empty() ? "" : std::string(indent, ' ')) + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!line.empty() && indent + line.size() + 1 + word.size() > width) flush();
    line += (line.empty() ? "" : " ") + std::string(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  flush();
  return out;
}

/// Describes the kinds of a rule for a reader.
std::string describe_kinds(std::string_view kinds) {
  std::string out;
  while (!kinds.empty()) {
    const std::string_view word = kinds.substr(0, kinds.find(' '));
    const std::string_view shown =
        word == "@pods"      ? "every workload"
        : word == "@gpu"     ? "every workload on GPUs"
        : word == "@serving" ? "Deployment, StatefulSet, LeaderWorkerSet, Rollout, CloneSet on GPUs"
        : word == "@scaler"  ? "HorizontalPodAutoscaler, ScaledObject, PodAutoscaler, and kinds that scale themselves"
        : word == "@pool"    ? "NodePool, Provisioner"
        : word == "@adapter" ? "rules of prometheus-adapter"
        : word == "*"        ? "every object"
                             : word;
    out += (out.empty() ? "" : ", ") + std::string(shown);
    kinds.remove_prefix(std::min(kinds.size(), word.size() + 1));
  }
  return out.empty() ? "every file" : out;
}

constexpr std::size_t kWidth = 100;

/// Describes the edits that Capstan can make and their safety; empty if a person must decide.
std::string describe_edits(const Rule& rule) {
  if (rule.fix_safety == FixSafety::none) return "";
  return fmt::format("`capstan lint {}` turns the bad example into the good one. {}", option_for(rule.fix_safety),
                     rule.fix_safety == FixSafety::safe ? "This fix is safe: the manifest keeps its meaning."
                                                        : "This fix is unsafe: it changes what runs.");
}

}  // namespace

std::string explain_rule(const Rule& rule) {
  std::string out = fmt::format("{} ({})\n\n  {}\n", rule.id, name_of(rule.severity), wrapped(rule.title, 2, kWidth));
  out += fmt::format("  why     {}", wrapped(rule.why, 10, kWidth));
  out += fmt::format("  fix     {}", wrapped(rule.fix, 10, kWidth));
  if (const std::string edits = describe_edits(rule); !edits.empty()) {
    out += fmt::format("  edits   {}", wrapped(edits, 10, kWidth));
  }
  out += fmt::format("  checks  {}", wrapped(describe_kinds(rule.kinds), 10, kWidth));
  out += fmt::format("  source  {}", wrapped(rule.source, 10, kWidth));
  return out + "\n  bad\n" + indented(rule.bad) + "\n  good\n" + indented(rule.good);
}

std::string rule_page(const Rule& rule) {
  const std::string edits = describe_edits(rule);
  return fmt::format(
      "# {}\n\n{}. Severity: {}{}. Checks: {}.\n\n## Why\n\n{}\n\n## What to do\n\n{}{}\n\n"
      "## Bad\n\n```yaml\n{}```\n\n## Good\n\n```yaml\n{}```\n\n"
      "Source: {}. To accept a finding, give the reason in a comment: `# capstan:ignore {} REASON`.\n",
      rule.id, rule.title, name_of(rule.severity),
      rule.severity == Severity::info ? " (advice, shown with `--advice`)" : "", describe_kinds(rule.kinds), rule.why,
      rule.fix, edits.empty() ? "" : "\n\n" + edits, rule.bad, rule.good, rule.source, rule.id);
}

std::string rules_page() {
  std::string out =
      "# Lint rules\n\n"
      "`capstan lint` finds these defects. Each rule has a page with the reason and two examples. The severity is "
      "`error` if\n"
      "a server refuses the object or the object never works, `warning` if it works but does harm, and `info` for "
      "advice,\n"
      "which is shown only with `--advice`. A finding of any rule is advice if the manifests do not prove the defect, "
      "for\n"
      "example if nothing shows that two objects are deployed together. Its message then says so.\n"
      "`--fix` makes the safe fixes, which keep the meaning of the manifest. `--unsafe-fixes` makes the others too.\n"
      "`scripts/generate` writes the pages of this folder from `src/lint/rules/`.\n\n"
      "| rule | severity | fix | what it finds |\n|---|---|---|---|\n";
  for (const Rule* rule : all_rules()) {
    out += fmt::format("| [{0}]({0}.md) | {1} | {2} | {3} |\n", rule->id, name_of(rule->severity),
                       rule->fix_safety == FixSafety::none ? "" : name_of(rule->fix_safety), rule->title);
  }
  return out;
}

std::string rules_list() {
  std::string out;
  for (const Rule* rule : all_rules()) {
    out += fmt::format("{:<8} {:<36} {}\n", name_of(rule->severity), rule->id, rule->title);
  }
  return out;
}

}  // namespace capstan::lint
