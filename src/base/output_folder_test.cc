#include "base/output_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace capstan {
namespace {

namespace fs = std::filesystem;

class OutputFolder : public testing::Test {
 protected:
  OutputFolder() : root_(fs::temp_directory_path() / ("capstan-output-" + std::to_string(::getpid()))) {
    fs::create_directories(root_);
  }
  ~OutputFolder() override { fs::remove_all(root_); }
  std::string at(const std::string& name) const { return (root_ / name).string(); }

  fs::path root_;
};

const std::map<std::string, std::string> kFiles = {{"a.yaml", "a: 1\n"}, {"nodes/b.yaml", "b: 2\n"}};

TEST_F(OutputFolder, IsCreatedWithATrailingSlash) {
  const std::string folder = at("new/deep/");
  EXPECT_FALSE(check_output_folder(folder));
  EXPECT_FALSE(fs::exists(at("new"))) << "the check changes nothing";
  EXPECT_FALSE(write_output_folder(folder, kFiles));
  EXPECT_EQ(read_file(at("new/deep/nodes/b.yaml"), 100).value(), "b: 2\n");
  EXPECT_FALSE(fs::exists(at("new/deep/.unfinished")));
}

TEST_F(OutputFolder, MayBeTheCurrentFolderOrASymbolicLink) {
  fs::create_directories(at("real"));
  fs::create_directory_symlink(at("real"), at("link"));
  EXPECT_FALSE(check_output_folder(at("link")));
  EXPECT_FALSE(write_output_folder(at("link"), kFiles));
  EXPECT_TRUE(fs::exists(at("real/a.yaml")));
  fs::create_directories(at("here"));
  EXPECT_FALSE(check_output_folder(at("here/.")));
  EXPECT_FALSE(write_output_folder(at("here/."), kFiles));
  EXPECT_TRUE(fs::exists(at("here/a.yaml")));
}

TEST_F(OutputFolder, IsRefusedIfItHasEntriesOrIsAFile) {
  std::ofstream(at("file")) << "x";
  EXPECT_NE(check_output_folder(at("file"))->text().find("is not a folder"), std::string::npos);
  EXPECT_NE(check_output_folder(at("file/below"))->text().find("file is not a folder"), std::string::npos);
  EXPECT_NE(check_output_folder(root_.string())->text().find("is not empty"), std::string::npos);
}

TEST_F(OutputFolder, IsRefusedIfItCannotBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write into every folder";
  fs::create_directories(at("locked"));
  fs::permissions(at("locked"), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(check_output_folder(at("locked/new"))->text().find("cannot be written"), std::string::npos);
  fs::permissions(at("locked"), fs::perms::owner_all);
}

TEST_F(OutputFolder, KeepsNothingIfAFileCannotBeWritten) {
  // A path component is longer than any file system allows.
  const auto error = write_output_folder(at("new"), {{"a.yaml", "a: 1\n"}, {std::string(300, 'x'), "b: 2\n"}});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->text().find(".unfinished"), std::string::npos);
  EXPECT_FALSE(fs::exists(at("new")));
}

}  // namespace
}  // namespace capstan
