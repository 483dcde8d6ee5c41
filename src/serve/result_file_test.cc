#include "serve/result_file.h"

#include <gtest/gtest.h>

namespace capstan::serve {
namespace {

TEST(ResultFile, IsKnownByItsFirstBytes) {
  using enum FileKind;
  const std::vector<std::pair<std::string, FileKind>> rows = {
      {"{\n  \"format_version\": 1", result},
      {"{\"format_version\":1}", result},
      {" \r\n{\"format_version\"", result},
      {"{\"name\": \"chat\"}", scenario},
      {"name: chat\n", scenario},
      {"", scenario},
      {"<!doctype html>\n<html>", page},
      {"{", scenario},
      {std::string("SQLite format 3\0rest", 20), recording},
      {"SQLite format 3", scenario},
  };
  for (const auto& [bytes, expected] : rows) EXPECT_EQ(kind_of_file(bytes), expected) << bytes;
}

TEST(ResultFile, NamesWhatIsWrong) {
  const auto check = [](std::string_view text) -> std::string {
    const Result<void> checked = check_result(text, "r.json");
    return checked ? "ok" : checked.error().text();
  };
  const std::vector<std::pair<const char*, const char*>> rows = {
      {R"({"format_version": 1, "policies": [{}]})", "ok"},
      {"{\"format_version\": 1,\n \"policies\": [}", "r.json:2:15: is not JSON, expected a result of sim or compare"},
      {"{\"format_version\": 1,\n \"pol", "r.json:2:6: the JSON ends early, expected a whole result"},
      {"[1]", "r.json: holds no result, expected JSON of sim or compare"},
      {"{}", "r.json: holds no result, expected JSON of sim or compare"},
      {R"({"format_version": 2})", "r.json: has another format version, and this program shows version 1"},
      {R"({"format_version": 1})", "r.json: holds no policies, expected JSON of sim or compare"},
      {R"({"format_version": 1, "policies": []})", "r.json: holds no policies, expected JSON of sim or compare"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(check(text), expected) << text;
}

}  // namespace
}  // namespace capstan::serve
