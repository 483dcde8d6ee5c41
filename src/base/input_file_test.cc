#include "base/input_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace capstan {
namespace {

TEST(InputFile, AnErrorNamesTheFileAndWhatWasExpected) {
  const std::string path = testing::TempDir() + "input_file_test";
  std::ofstream(path, std::ios::binary) << "a,b\n1,2\n";
  EXPECT_EQ(read_input(path, "a CSV file").value_or(""), "a,b\n1,2\n");
  std::remove(path.c_str());
  EXPECT_EQ(read_input(path, "a CSV file").error().text(), path + ": cannot be opened, expected a CSV file");
  const std::string folder = testing::TempDir();
  EXPECT_EQ(read_input(folder, "a CSV file").error().text(), folder + ": cannot be read, expected a CSV file");
}

}  // namespace
}  // namespace capstan
