#include "lint/input/find_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace capstan::lint::find_files_test {
namespace {

namespace fs = std::filesystem;

class FindFiles : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("find_files_" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text = "a: 1\n") {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  std::vector<std::string> found(const std::vector<std::string>& exclude = {}) {
    std::vector<std::string> names;
    for (const Candidate& file : find_files({root_.string()}, exclude).files) {
      names.push_back(fs::path(file.path).lexically_relative(root_).string());
    }
    return names;
  }

  fs::path root_;
};

TEST_F(FindFiles, FindsManifestsAndSkipsIgnoredFiles) {
  write("b.yaml");
  write("a.yml");
  write("c.txt");
  write("README.md");
  write("d/e.json");
  write("d/.gitignore", "skip*\n!skip-not.yaml\n");
  write("d/skip.yaml");
  write("d/skip-not.yaml");
  write(".git/x.yaml");
  write("node_modules/y.yaml");
  write("vendor/z.yaml");
  EXPECT_EQ(found({"vendor/"}),
            (std::vector<std::string>{"README.md", "a.yml", "b.yaml", "d/e.json", "d/skip-not.yaml"}));
}

TEST_F(FindFiles, LinksToFoldersAreNotFollowed) {
  write("a/b.yaml");
  fs::create_directory_symlink(root_, root_ / "a/loop");
  EXPECT_EQ(found(), (std::vector<std::string>{"a/b.yaml"}));
}

TEST_F(FindFiles, AMissingFileIsReported) {
  const FoundFiles files = find_files({(root_ / "none.yaml").string()}, {});
  EXPECT_TRUE(files.files.empty());
  ASSERT_EQ(files.unreadable.size(), 1u);
  EXPECT_NE(files.unreadable[0].text().find("none.yaml: cannot be opened"), std::string::npos);
}

TEST_F(FindFiles, APipeIsNotOpened) {
  const std::string pipe = (root_ / "pipe.yaml").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((root_ / ".gitignore").c_str(), 0600), 0);
  const FoundFiles files = find_files({pipe, "-", "/dev/fd/0", root_.string()}, {});
  ASSERT_EQ(files.files.size(), 2u);
  ASSERT_EQ(files.unreadable.size(), 1u);
  EXPECT_NE(files.unreadable[0].text().find("pipe.yaml: is not a regular file"), std::string::npos);
}

}  // namespace
}  // namespace capstan::lint::find_files_test
