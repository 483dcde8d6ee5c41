#include "conformance/case_input.h"

#include <gtest/gtest.h>

namespace capstan::conformance {
namespace {

/// Returns the problem recorded when `read` reads this JSON; "" if there is none.
template <typename Read>
std::string problem_of(const char* json, Read read) {
  const Result<Value> value = parse_json(json, "x.json");
  if (!value) return value.error().text();
  CaseInput::Problem problem;
  read(CaseInput(*value, "given", problem));
  return problem.value_or("");
}

TEST(CaseInput, ReadsWithTypes) {
  EXPECT_EQ(problem_of(R"({"n": 3, "whole": 8.0, "x": 0.5, "b": true, "t": "up", "l": [1, 2], "z": null})",
                       [](const CaseInput& given) {
                         EXPECT_EQ(given["n"].integer(), 3);
                         EXPECT_EQ(given["whole"].integer(), 8);
                         EXPECT_EQ(given["n"].number(), 3.0);
                         EXPECT_EQ(given["x"].seconds(), std::chrono::milliseconds(500));
                         EXPECT_TRUE(given["b"].boolean());
                         EXPECT_EQ(given["t"].one_of<int>({{"down", -1}, {"up", 1}}), 1);
                         EXPECT_EQ(given["l"].list().size(), 2u);
                         EXPECT_EQ(given.members().size(), 7u);
                         EXPECT_FALSE(given["z"]);
                         EXPECT_FALSE(given.find("absent"));
                         EXPECT_EQ(given["z"].integer_or_null(), std::nullopt);
                         EXPECT_EQ(given["x"].number_or_null(), 0.5);
                       }),
            "");
}

TEST(CaseInput, AProblemNamesItsPlaceAndTheExpectation) {
  struct Row {
    const char* json;
    void (*read)(const CaseInput&);
    const char* problem;
  };
  const Row rows[] = {
      {R"({})", [](const CaseInput& g) { (void)g["n"].integer(); }, "given: found no \"n\", expected one"},
      {R"({"p": [{"n": 1.5}]})", [](const CaseInput& g) { (void)g["p"].list()[0]["n"].integer(0, 9); },
       "given.p[0].n: found 1.5, expected an integer from 0 to 9"},
      {R"({"n": 10})", [](const CaseInput& g) { (void)g["n"].integer(0, 9); },
       "given.n: found 10, expected an integer from 0 to 9"},
      {R"({"n": 1e300})", [](const CaseInput& g) { (void)g["n"].integer(0, 9); },
       "given.n: found 1e+300, expected an integer"},
      {R"({"n": "x"})", [](const CaseInput& g) { (void)g["n"].number(0, 1); },
       "given.n: found \"x\", expected a number from 0 to 1"},
      {R"({"n": 1})", [](const CaseInput& g) { (void)g["n"].boolean(); }, "given.n: found 1, expected true or false"},
      {R"({"n": 1})", [](const CaseInput& g) { (void)g["n"].text(); }, "given.n: found 1, expected a string"},
      {R"({"n": 1})", [](const CaseInput& g) { (void)g["n"].list(); }, "given.n: found 1, expected a list"},
      {R"({"n": 1})", [](const CaseInput& g) { (void)g["n"].members(); }, "given.n: found 1, expected an object"},
      {R"({"n": "left"})", [](const CaseInput& g) { (void)g["n"].one_of<int>({{"up", 1}, {"down", 2}}); },
       "given.n: found \"left\", expected one of up, down"},
      {R"({"n": 1, "m": 2})",
       [](const CaseInput& g) {
         (void)g["n"].text();
         (void)g["m"].text();
       },
       "given.n: found 1, expected a string"},
  };
  for (const Row& row : rows) {
    const std::string problem = problem_of(row.json, row.read);
    EXPECT_TRUE(problem.starts_with(row.problem)) << problem << "\nexpected " << row.problem;
  }
}

TEST(CaseInput, VeryLongTimesAreClamped) {
  problem_of(R"({"age": 1e14})",
             [](const CaseInput& given) { EXPECT_EQ(given["age"].seconds(), std::chrono::seconds(4'000'000'000)); });
}

}  // namespace
}  // namespace capstan::conformance
