// Checks the rules of docs/architecture.md and CONTRIBUTING.md on every file of the tree, and that the tests and the
// identifiers that the docs name exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tree/parameters.h"
#include "tree/prose.h"
#include "tree/reasons.h"
#include "tree/rooms.h"
#include "tree/rules.h"
#include "tree/source.h"

namespace capstan::tree {
namespace {

const std::vector<Source>& tree() {
  static const std::vector<Source> sources = read_tree(CAPSTAN_SOURCE_DIR);
  return sources;
}

void report(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) ADD_FAILURE() << finding.text();
}

TEST(Tree, IsRead) {
  std::size_t sources = 0;
  for (const Source& source : tree()) sources += source.is_cpp() && !source.room().empty();
  EXPECT_GT(sources, 20u) << "the walk found almost nothing below " << CAPSTAN_SOURCE_DIR;
}

TEST(Tree, EveryFolderOfSrcIsARoomOfTheGraph) {
  for (const auto& entry : std::filesystem::directory_iterator(std::string(CAPSTAN_SOURCE_DIR) + "/src")) {
    if (!entry.is_directory()) continue;
    EXPECT_TRUE(is_room(entry.path().filename().string())) << entry.path();
  }
}

TEST(Tree, IncludesFollowTheGraph) {
  for (const Source& source : tree()) report(check_includes(source));
}

TEST(Tree, TheBuildDeclaresOnlyEdgesOfTheGraph) {
  for (const Source& source : tree()) {
    if (source.path == "src/CMakeLists.txt") report(check_declared_edges(source));
  }
}

TEST(Tree, NoLineBreaksALineRule) {
  for (const Source& source : tree()) report(check_lines(source));
}

TEST(Tree, LinesAndFilesAreShort) {
  for (const Source& source : tree()) report(check_shape(source));
}

TEST(Tree, FunctionsHaveFewParameters) {
  for (const Source& source : tree()) report(check_parameters(source));
}

TEST(Tree, EverySourceHasATestBesideIt) { report(check_tested(tree())); }

TEST(Tree, EveryReasonIsUsed) { report(check_reasons(tree())); }

const std::vector<std::string>& unread() {
  static const std::vector<std::string> entries = [] {
    std::ifstream in(std::string(CAPSTAN_SOURCE_DIR) + "/tests/tree/unread.txt");
    return parse_unread(std::string(std::istreambuf_iterator<char>(in), {}));
  }();
  return entries;
}

TEST(Tree, ReadRoomsAreInPlainEnglish) {
  for (const Source& source : tree()) {
    if (!is_unread(source, unread())) report(check_prose(source));
  }
}

TEST(Tree, UnreadRoomsStillNeedThePass) {
  for (const std::string& entry : unread()) {
    const bool needed = std::ranges::any_of(
        tree(), [&](const Source& source) { return is_unread(source, {entry}) && !check_prose(source).empty(); });
    EXPECT_TRUE(needed) << entry << " has no banned phrase any more: read it and remove it from tests/tree/unread.txt";
  }
}

/// Returns "Suite.Test" if a line declares a test; otherwise empty.
std::string declared_test(const std::string& line) {
  const bool declares = line.starts_with("TEST(") || line.starts_with("TEST_F(") || line.starts_with("RC_GTEST_PROP(");
  const std::size_t open = line.find('('), comma = line.find(','), end = line.find_first_of(",)", comma + 1);
  if (!declares || comma == line.npos || end == line.npos) return {};
  const std::size_t name = line.find_first_not_of(' ', comma + 1);
  return line.substr(open + 1, comma - open - 1) + "." + line.substr(name, end - name);
}

/// Returns the texts between backticks of one line of a page.
std::vector<std::string> quoted(const std::string& line) {
  std::vector<std::string> texts;
  std::size_t begin = line.find('`');
  for (std::size_t end = 0; begin != line.npos; begin = line.find('`', end + 1)) {
    end = line.find('`', begin + 1);
    if (end == line.npos) break;
    texts.push_back(line.substr(begin + 1, end - begin - 1));
  }
  return texts;
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Returns true for the name of a test, such as `Suite.Test`. The name of a file has a dot, too, but a small letter
/// after it.
bool is_test_name(const std::string& text) {
  const std::size_t point = text.find('.');
  const auto is_upper = [&](std::size_t at) { return at < text.size() && text[at] >= 'A' && text[at] <= 'Z'; };
  return point != text.npos && is_upper(0) && is_upper(point + 1) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || c == '.'; });
}

TEST(Tree, TheInvariantsNameTestsThatExist) {
  std::set<std::string> tests, named;
  for (const Source& source : tree()) {
    const bool is_page = source.path == "docs/invariants.md";
    if (!is_page && !source.is_test()) continue;
    for (const std::string& line : source.lines) {
      if (!is_page) tests.insert(declared_test(line));
      for (const std::string& text : is_page ? quoted(line) : std::vector<std::string>()) {
        if (is_test_name(text)) named.insert(text);
      }
    }
  }
  EXPECT_GT(named.size(), 50u);
  for (const std::string& name : named) EXPECT_TRUE(tests.contains(name)) << "no test has the name " << name;
}

/// Returns the last name of `room::Type::member` or `Type::member()`; empty for any other text, and for `std::`.
std::string qualified_name(std::string text) {
  if (text.ends_with("()")) text.resize(text.size() - 2);
  const std::size_t colons = text.rfind("::");
  const auto is_name = [](char c) { return is_letter(c) || c == '_' || c == ':'; };
  if (colons == text.npos || text.starts_with("std::") || !std::ranges::all_of(text, is_name)) return {};
  return text.substr(colons + 2);
}

void add_words(const std::string& code, std::set<std::string>& words) {
  const auto is_word = [](char c) { return is_letter(c) || c == '_'; };
  for (auto begin = std::ranges::find_if(code, is_word); begin != code.end();) {
    const auto end = std::find_if_not(begin, code.end(), is_word);
    words.emplace(begin, end);
    begin = std::find_if(end, code.end(), is_word);
  }
}

TEST(Tree, TheDocsNameIdentifiersThatExist) {
  std::set<std::string> words;
  for (const Source& source : tree()) {
    for (const std::string& line : source.code) add_words(line, words);
  }
  std::size_t named = 0;
  for (const Source& source : tree()) {
    if (!source.path.ends_with(".md")) continue;
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      for (const std::string& text : quoted(source.lines[i])) {
        const std::string name = qualified_name(text);
        named += !name.empty();
        EXPECT_TRUE(name.empty() || words.contains(name)) << source.path << ":" << i + 1 << ": no code has " << text;
      }
    }
  }
  EXPECT_GT(named, 10u);
}

TEST(Tree, EveryExceptionNamesAFile) { report(check_exceptions(tree())); }

}  // namespace
}  // namespace capstan::tree
