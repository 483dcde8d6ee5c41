#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/file.h"
#include "lint/render/places.h"
#include "lint/rules.h"
#include "lint/run.h"

// Lints the manifests of tests/lint/corpus and compares each finding with its label in tests/lint/labels.tsv. Each
// folder of the corpus is based on manifests of one public repository and is linted separately.
namespace capstan::lint::corpus_test {
namespace {

namespace fs = std::filesystem;

const fs::path kLint = fs::path(CAPSTAN_SOURCE_DIR) / "tests/lint";
constexpr std::size_t kFewestFindings = 300;
constexpr std::size_t kFewestManifests = 150;
constexpr std::size_t kFewestRepositories = 40;
constexpr double kErrorsRight = 0.98;
constexpr double kWarningsRight = 0.90;

struct Key {
  std::string file;
  std::string line;
  std::string rule;
  std::string severity;

  auto operator<=>(const Key&) const = default;
  std::string text() const { return fmt::format("{}:{} {} ({})", file, line, rule, severity); }
};

struct Label {
  std::string value;
  std::string reason;
};

/// Findings by label.
struct Counts {
  std::size_t right = 0;     ///< findings with the label true
  std::size_t arguable = 0;  ///< disputed findings, which depend on facts outside the manifests
  std::size_t wrong = 0;     ///< findings with the label false

  std::size_t all() const { return right + arguable + wrong; }
  double precision() const { return all() == 0 ? 1 : static_cast<double>(right) / static_cast<double>(all()); }
  double lenient_precision() const {
    return 1 - static_cast<double>(wrong) / static_cast<double>(std::max(all(), 1zu));
  }
  void add(const std::string& label) { ++(label == "true" ? right : label == "arguable" ? arguable : wrong); }
};

std::string read_text(const fs::path& path) {
  const auto text = read_file(path.string(), 1u << 22);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

/// Returns the rows below the header of a file of tab-separated values.
std::vector<std::vector<std::string>> rows_of(const fs::path& path, std::size_t columns) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(read_text(path));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<std::string> row;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
    EXPECT_EQ(row.size(), columns) << path.filename() << ": " << line;
    if (row.size() == columns) rows.push_back(row);
  }
  return rows;
}

const std::map<Key, Label>& labels() {
  static const std::map<Key, Label> all = [] {
    std::map<Key, Label> read;
    for (const auto& row : rows_of(kLint / "labels.tsv", 6)) {
      const Key key{row[0], row[1], row[2], row[3]};
      EXPECT_TRUE(read.try_emplace(key, row[4], row[5]).second) << "labelled twice: " << key.text();
    }
    return read;
  }();
  return all;
}

void lint_folder(const fs::path& folder, std::map<Key, std::string>& found) {
  Options options;
  options.advice = true;
  const FoundFiles files = find_files({folder.string()}, {});
  EXPECT_TRUE(files.unreadable.empty()) << folder;
  const Report report = lint_files(files.files, options);
  EXPECT_TRUE(report.unreadable.empty()) << folder;
  for (const Finding& finding : report.findings) {
    const std::string file = fs::path(finding.file->path).lexically_relative(kLint / "corpus").generic_string();
    const std::string line = std::to_string(places_of(finding).begin.line);
    found.emplace(Key{file, line, std::string(finding.rule->id), std::string(name_of(finding.severity))},
                  finding.message);
  }
}

/// Returns the findings of the whole corpus with their messages.
const std::map<Key, std::string>& findings() {
  static const std::map<Key, std::string> all = [] {
    std::map<Key, std::string> found;
    for (const auto& entry : fs::directory_iterator(kLint / "corpus")) {
      if (entry.is_directory()) lint_folder(entry.path(), found);
    }
    return found;
  }();
  return all;
}

/// A severity and a rule. The rule is empty for the sum over all rules.
using Group = std::tuple<std::string, std::string>;

std::map<Group, Counts> counts() {
  std::map<Group, Counts> all;
  for (const auto& [key, message] : findings()) {
    const auto label = labels().find(key);
    if (label == labels().end()) continue;
    all[{key.severity, ""}].add(label->second.value);
    all[{key.severity, key.rule}].add(label->second.value);
  }
  return all;
}

std::string share(double part) { return fmt::format("{:.0f} %", part * 100); }

std::string row_of(const std::string& severity, const std::string& rule, const Counts& count) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", severity, rule.empty() ? "all" : "`" + rule + "`",
                     count.all(), count.right, count.arguable, count.wrong, share(count.precision()),
                     share(count.lenient_precision()));
}

/// Returns the rows of SOURCES.tsv: a manifest, and the repository, path, commit and licence of the public manifest on
/// which it is based.
const std::vector<std::vector<std::string>>& sources() {
  static const std::vector<std::vector<std::string>> rows = rows_of(kLint / "corpus/SOURCES.tsv", 5);
  return rows;
}

std::set<std::string> repositories() {
  std::set<std::string> names;
  for (const auto& row : sources()) names.insert(row[1]);
  return names;
}

/// Returns the precision by severity and rule as a table for docs/validity.md.
std::string table() {
  std::string text = fmt::format("{} findings on {} manifests that follow public ones of {} repositories:\n\n",
                                 findings().size(), sources().size(), repositories().size());
  text +=
      "| severity | rule | findings | true | arguable | false "
      "| precision, arguable = wrong | precision, arguable = right |\n"
      "|---|---|---|---|---|---|---|---|\n";
  const std::map<Group, Counts> all = counts();
  for (const std::string severity : {"error", "warning", "info"}) {
    for (const auto& [group, count] : all) {
      if (std::get<0>(group) == severity) text += row_of(severity, std::get<1>(group), count);
    }
  }
  return text;
}

TEST(Corpus, PrecisionFollowsFromTheCounts) {
  struct Row {
    Counts counts;
    double precision;
    double lenient;
  };
  for (const Row& row : {Row{{.right = 8, .arguable = 1, .wrong = 1}, 0.8, 0.9}, Row{{.right = 0}, 1, 1},
                         Row{{.right = 0, .arguable = 2}, 0, 1}, Row{{.right = 0, .wrong = 2}, 0, 0}}) {
    EXPECT_DOUBLE_EQ(row.counts.precision(), row.precision);
    EXPECT_DOUBLE_EQ(row.counts.lenient_precision(), row.lenient);
  }
}

TEST(Corpus, EveryFindingIsLabelled) {
  for (const auto& [key, message] : findings()) {
    EXPECT_TRUE(labels().contains(key)) << key.text() << ": " << message;
  }
  EXPECT_GE(findings().size(), kFewestFindings);
  for (const auto& [key, label] : labels()) {
    if (!findings().contains(key)) std::cout << "stale label, delete it: " << key.text() << "\n";
  }
}

TEST(Corpus, EveryLabelHasAReason) {
  const std::set<std::string> values = {"true", "arguable", "false"};
  for (const auto& [key, label] : labels()) {
    EXPECT_TRUE(values.contains(label.value)) << key.text() << ": " << label.value;
    EXPECT_TRUE(label.reason.size() > 20 && label.reason.ends_with('.')) << key.text() << ": " << label.reason;
    EXPECT_NE(find_rule(key.rule), nullptr) << key.text();
  }
}

TEST(Corpus, ErrorsAndWarningsAreRight) {
  std::map<Group, Counts> all = counts();
  std::cout << table();
  EXPECT_GE(all[Group("error", "")].precision(), kErrorsRight);
  EXPECT_GE(all[Group("warning", "")].precision(), kWarningsRight);
}

TEST(Corpus, EveryManifestNamesItsPublicSource) {
  const std::set<std::string> licences = {"Apache-2.0", "MIT", "MIT-0", "BSD-3-Clause"};
  std::set<std::string> named;
  for (const auto& row : sources()) {
    EXPECT_TRUE(named.insert(row[0]).second) << row[0];
    EXPECT_TRUE(fs::exists(kLint / "corpus" / row[0])) << row[0];
    EXPECT_EQ(row[3].size(), 40u) << row[0];
    EXPECT_TRUE(licences.contains(row[4])) << row[0] << ": " << row[4];
  }
  EXPECT_GE(named.size(), kFewestManifests);
  EXPECT_GE(repositories().size(), kFewestRepositories);
  for (const auto& entry : fs::recursive_directory_iterator(kLint / "corpus")) {
    const std::string file = entry.path().lexically_relative(kLint / "corpus").generic_string();
    if (entry.is_regular_file() && file != "SOURCES.tsv") {
      EXPECT_TRUE(named.contains(file)) << file;
    }
  }
}

TEST(Corpus, TheDocsShowThePrecision) {
  const std::string begin = "<!-- measured: lint corpus -->\n";
  const fs::path path = fs::path(CAPSTAN_SOURCE_DIR) / "docs/validity.md";
  std::string text = read_text(path);
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find("<!-- /measured -->", from);
  ASSERT_TRUE(from != text.npos && to != text.npos);
  const std::size_t start = from + begin.size();
  const std::string shown = text.substr(start, to - start);
  if (shown != table() && std::getenv("CAPSTAN_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path) << text.replace(start, to - start, table());
    return;
  }
  EXPECT_EQ(shown, table()) << "run scripts/golden";
}

}  // namespace
}  // namespace capstan::lint::corpus_test
