#include "base/file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace capstan {
namespace {

TEST(File, IsReadCompletelyUpToALimit) {
  const std::string path = testing::TempDir() + "file_test";
  const std::string bytes = std::string(100'000, 'x') + '\0' + "end";
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(read_file(path, bytes.size()), bytes);
  EXPECT_EQ(read_file(path, bytes.size() - 1).error(), FileFault::too_large);
  std::remove(path.c_str());
  EXPECT_EQ(read_file(path, 10).error(), FileFault::cannot_open);
}

TEST(File, AFolderCannotBeRead) { EXPECT_EQ(read_file(testing::TempDir(), 10).error(), FileFault::cannot_read); }

}  // namespace
}  // namespace capstan
