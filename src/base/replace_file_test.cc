#include "base/replace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace capstan::replace_file_test {
namespace {

namespace fs = std::filesystem;

class ReplaceFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("replace_file_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "real");
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string text(const std::string& name) const { return read_file(path(name), 1u << 20).value_or("unreadable"); }
  struct stat facts(const std::string& name) const {
    struct stat found{};
    EXPECT_EQ(::stat(path(name).c_str(), &found), 0) << name;
    return found;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::recursive_directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(ReplaceFile, ALinkStaysALinkAndItsTargetIsReplaced) {
  write("real/a.yaml", "old");
  fs::create_symlink("real/a.yaml", folder_ / "link.yaml");
  fs::create_symlink("link.yaml", folder_ / "link-to-link.yaml");
  ASSERT_TRUE(replace_file(path("link-to-link.yaml"), "new"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link-to-link.yaml"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.yaml"));
  EXPECT_FALSE(fs::is_symlink(folder_ / "real/a.yaml"));
  EXPECT_EQ(text("real/a.yaml"), "new");
  EXPECT_EQ(files(), 4u) << "no temporary file is left";
}

TEST_F(ReplaceFile, ModesStay) {
  for (const mode_t mode : {0600u, 0640u, 0644u, 0664u, 0755u, 0777u}) {
    write("a.yaml", "old");
    ASSERT_EQ(::chmod(path("a.yaml").c_str(), mode), 0);
    ASSERT_TRUE(replace_file(path("a.yaml"), "new"));
    EXPECT_EQ(facts("a.yaml").st_mode & 07777, mode);
    EXPECT_EQ(text("a.yaml"), "new");
  }
}

TEST_F(ReplaceFile, OwnersStay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the owner of a file";
  constexpr uid_t kUser = 65534;
  constexpr gid_t kGroup = 65533;
  write("a.yaml", "old");
  ASSERT_EQ(::chown(path("a.yaml").c_str(), kUser, kGroup), 0);
  ASSERT_TRUE(replace_file(path("a.yaml"), "new"));
  EXPECT_EQ(facts("a.yaml").st_uid, kUser);
  EXPECT_EQ(facts("a.yaml").st_gid, kGroup);
}

TEST_F(ReplaceFile, ANewFileTakesTheName) {
  write("a.yaml", "old");
  const ino_t before = facts("a.yaml").st_ino;
  std::ifstream reader(path("a.yaml"));
  ASSERT_TRUE(replace_file(path("a.yaml"), "new"));
  std::string read;
  reader >> read;
  EXPECT_EQ(read, "old") << "a reader that opened the old file sees the old bytes";
  EXPECT_NE(facts("a.yaml").st_ino, before);
}

TEST_F(ReplaceFile, AMissingFileIsCreated) {
  ASSERT_TRUE(replace_file(path("new.json"), "{}"));
  EXPECT_EQ(text("new.json"), "{}");
  EXPECT_EQ(files(), 2u);
}

TEST_F(ReplaceFile, AFileThatCannotBeWrittenIsAnErrorAndStays) {
  write("file", "text");
  for (const auto& replace : {+[](const std::string& target) { return replace_file(target, "new"); },
                              +[](const std::string& target) { return check_replaceable(target); }}) {
    EXPECT_EQ(replace(path("real")).error().text(),
              path("real") + ": is not a regular file, expected one that can be written");
    EXPECT_EQ(replace(path("none/a.yaml")).error().text(),
              path("none/a.yaml") + ": cannot create a new file in its folder: No such file or directory");
    EXPECT_EQ(replace(path("file/a.yaml")).error().text(),
              path("file/a.yaml") + ": cannot create a new file in its folder: Not a directory");
  }
  if (::geteuid() == 0) return;  // root may write everywhere
  write("a.yaml", "old");
  ASSERT_EQ(::chmod(path("a.yaml").c_str(), 0444), 0);
  EXPECT_EQ(check_replaceable(path("a.yaml")).error().text(),
            path("a.yaml") + ": cannot be written: Permission denied");
  EXPECT_EQ(replace_file(path("a.yaml"), "new").error().text(),
            path("a.yaml") + ": cannot be written: Permission denied");
  EXPECT_EQ(text("a.yaml"), "old");
}

TEST_F(ReplaceFile, ACheckCreatesNothing) {
  EXPECT_TRUE(check_replaceable(path("new.json")));
  EXPECT_FALSE(fs::exists(folder_ / "new.json"));
  write("a.yaml", "old");
  EXPECT_TRUE(check_replaceable(path("a.yaml")));
  EXPECT_TRUE(check_replaceable("a-file-that-is-not-there"));
  EXPECT_EQ(text("a.yaml"), "old");
}

}  // namespace
}  // namespace capstan::replace_file_test
