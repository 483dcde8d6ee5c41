// The tree polices itself: what docs/architecture.md promises of every source file is checked here.
#include <gtest/gtest.h>

#include <filesystem>

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

TEST(Tree, NoLineHoldsWhatIsBanned) {
  for (const Source& source : tree()) report(check_lines(source));
}

TEST(Tree, LinesAndFilesAreShort) {
  for (const Source& source : tree()) report(check_shape(source));
}

TEST(Tree, EverySourceHasATestBesideIt) { report(check_tested(tree())); }

TEST(Tree, EveryReasonIsGiven) { report(check_reasons(tree())); }

TEST(Tree, EveryExceptionIsAboutAFile) { report(check_exceptions(tree())); }

}  // namespace
}  // namespace capstan::tree
