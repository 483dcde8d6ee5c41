#include "manifest/errors.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace capstan::manifest {
namespace {

Error at_line(std::uint32_t line, ErrorKind kind = ErrorKind::input) { return {kind, "s.yaml", line, 1, "is wrong"}; }

TEST(Errors, AreSortedByPlaceWithoutDuplicates) {
  const Errors errors({at_line(12), at_line(3), at_line(12)});
  EXPECT_EQ(errors.text(), "s.yaml:3:1: is wrong\ns.yaml:12:1: is wrong");
}

TEST(Errors, AValueReadForTwoSettingsIsReportedOnce) {
  const auto at = [](std::uint32_t line, const char* message) {
    return Error{ErrorKind::input, "s.yaml", line, 9, message};
  };
  const Errors errors({at(7, "prefill.replicas: min 5 is above max 4"), at(7, "decode.replicas: min 5 is above max 4"),
                       at(7, "decode.replicas: min 5 is odd"), at(8, "decode.replicas: min 5 is above max 4")});
  EXPECT_EQ(errors.text(),
            "s.yaml:7:9: prefill.replicas: min 5 is above max 4\n"
            "s.yaml:7:9: decode.replicas: min 5 is odd\n"
            "s.yaml:8:9: decode.replicas: min 5 is above max 4");
  const auto set = [](const char* message) { return Error::about("--set a={b: x, c: x}", message); };
  EXPECT_EQ(Errors({set("a.b: found x"), set("a.c: found x")}).list.size(), 2u)
      << "errors of an option have no line, so they are never duplicates";
}

TEST(Errors, InputErrorsTakePrecedence) {
  using enum ErrorKind;
  const struct {
    const char* teaches;
    std::vector<ErrorKind> kinds;
    ErrorKind together;
  } rows[] = {
      {"one of each kind: an input error", {infeasible, usage, input}, input},
      {"a wrong option and an infeasible scenario: a usage error", {infeasible, usage}, usage},
      {"only infeasible ones", {infeasible, infeasible}, infeasible},
  };
  for (const auto& row : rows) {
    std::vector<Error> list;
    for (const ErrorKind kind : row.kinds) list.push_back(at_line(static_cast<std::uint32_t>(list.size()) + 1, kind));
    EXPECT_EQ(Errors(std::move(list)).kind, row.together) << row.teaches;
  }
}

TEST(Errors, ShowsTwentyAndCountsTheOthers) {
  for (const auto& [count, last] :
       {std::pair(20, "s.yaml:20:1: is wrong"), {21, "\nand 1 more error"}, {45, "\nand 25 more errors"}}) {
    std::vector<Error> list;
    for (int line = 1; line <= count; ++line) list.push_back(at_line(static_cast<std::uint32_t>(line)));
    const std::string text = Errors(std::move(list)).text();
    EXPECT_TRUE(text.ends_with(last)) << text;
    EXPECT_EQ(std::ranges::count(text, '\n'), std::min(count, 21) - 1);
  }
}

}  // namespace
}  // namespace capstan::manifest
