#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/file.h"
#include "lint/render/render.h"
#include "lint/rules.h"
#include "lint/run.h"

// Manifests as people copy them from articles. Each file lists the rules that must find something in it and the rules
// that must find nothing.
namespace capstan::lint::seeds_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> fixtures() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(CAPSTAN_SOURCE_DIR) / "tests/lint/seeds"))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

/// Returns the words of all lines that begin with `# key:`.
std::set<std::string> words_of(const std::string& text, const std::string& key) {
  std::set<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# " + key + ":")) continue;
    std::istringstream rest(line.substr(key.size() + 3));
    for (std::string word; rest >> word;) words.insert(word);
  }
  return words;
}

class Seed : public testing::TestWithParam<fs::path> {};

TEST_P(Seed, HasTheListedFindings) {
  const auto text = read_file(GetParam().string(), 1u << 20);
  ASSERT_TRUE(text);
  Options options;
  options.advice = true;
  const Report report = lint_texts({{GetParam().filename().string(), *text, true}}, options);
  std::set<std::string> found;
  for (const Finding& finding : report.findings) found.insert(std::string(finding.rule->id));
  const std::set<std::string> expected = words_of(*text, "finds");
  EXPECT_FALSE(expected.empty());
  for (const std::string& rule : expected) {
    EXPECT_NE(find_rule(rule), nullptr) << rule;
    EXPECT_TRUE(found.contains(rule)) << rule;
  }
  for (const std::string& rule : words_of(*text, "not")) {
    EXPECT_NE(find_rule(rule), nullptr) << rule;
    EXPECT_FALSE(found.contains(rule)) << rule << "\n" << to_text(report, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Articles, Seed, testing::ValuesIn(fixtures()),
                         [](const testing::TestParamInfo<fs::path>& info) {
                           std::string name = info.param.stem().string();
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace capstan::lint::seeds_test
