// Checks the rules of docs/architecture.md on every source file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

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

TEST(Tree, EveryExceptionNamesAFile) { report(check_exceptions(tree())); }

}  // namespace
}  // namespace capstan::tree
