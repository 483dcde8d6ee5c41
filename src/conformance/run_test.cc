#include "conformance/run.h"

#include <gtest/gtest.h>

namespace capstan::conformance {
namespace {

Value json(const char* text) { return parse_json(text, "test").value(); }

TEST(Differences, OnlyExpectedFieldsAreCompared) {
  const Tolerance tolerances[] = {{"burst", 1, 0}, {"ms", 0, 1e-6}, {"names", 0, 0, true}};
  struct Row {
    const char *expected, *found, *differences;
  };
  const Row rows[] = {
      {R"({"n": 3})", R"({"n": 3, "more": 4})", ""},
      {R"({"n": 3})", R"({"n": 4})", "n 3 4"},
      {R"({"n": 3})", R"({})", "n 3 null"},
      {R"({"n": null})", R"({})", ""},
      {R"({"n": 3})", R"({"n": 3.0})", ""},
      {R"({"x": 0.3})", R"({"x": 0.30000000000000004})", ""},
      {R"({"x": 0.3})", R"({"x": 0.3000001})", "x 0.3 0.3000001"},
      {R"({"n": 10000000000})", R"({"n": 10000000001})", "n 10000000000 10000000001"},
      {R"({"burst": -98})", R"({"burst": -97})", ""},
      {R"({"burst": -98})", R"({"burst": -96})", "burst -98 -96"},
      {R"({"steps": [{"burst": 1, "n": 2}]})", R"({"steps": [{"burst": 2, "n": 3}]})", "steps[0].n 2 3"},
      {R"({"l": [1, 2]})", R"({"l": [1]})", "l [1, 2] [1]"},
      {R"({"names": ["a", "b"]})", R"({"names": ["b", "a"]})", ""},
      {R"({"names": ["a", "b"]})", R"({"names": ["b", "b"]})", R"(names ["a", "b"] ["b", "b"])"},
      {R"({"names": ["a"]})", R"({"names": null})", R"(names ["a"] null)"},
      {R"({"a": {"b": true}})", R"({"a": {"b": false}})", "a.b true false"},
      {R"({"error": "one class"})", R"({"error": "in other words"})", ""},
      {R"({"error": "one class"})", R"({"n": 1})", "error \"one class\" null"},
      {R"({"x_min_exclusive": 3})", R"({"x": 4})", ""},
      {R"({"x_min_exclusive": 3})", R"({"x": 3})", "x_min_exclusive 3 3"},
      {R"({"x_min": 3, "x_max": 3})", R"({"x": 3})", ""},
      {R"({"x_min": 3})", R"({"x_min": 4})", "x_min 3 4"},
      {R"({"derived": {"x": 3}})", R"({"x": 4})", "derived.x 3 4"},
      {R"({"ms": 200.0})", R"({"ms": 200.0001})", ""},
      {R"({"ms": 200.0})", R"({"ms": 200.001})", "ms 200 200.001"},
  };
  for (const Row& row : rows) {
    std::string words;
    for (const Difference& difference : differences(json(row.expected), json(row.found), tolerances)) {
      words += difference.field + " " + difference.expected + " " + difference.found;
    }
    EXPECT_EQ(words, row.differences) << row.expected << " against " << row.found;
  }
}

/// Answers like a peer that doubles its input.
Value double_input(const CaseInput& given) { return object({{"n", 2 * given["n"].integer(0, 9)}}); }
Value negate_input(const CaseInput& given) { return object({{"n", -given["n"].integer(0, 9)}}); }

TEST(Run, ListsFailedCases) {
  const std::vector<Case> cases = {
      {"right", "double", json(R"({"n": 2})"), json(R"({"n": 4})")},
      {"wrong", "double", json(R"({"n": 2})"), json(R"({"n": 5})")},
      {"unreadable", "double", json(R"({"n": 20})"), json(R"({"n": 40})")},
      {"misspelt", "duoble", json(R"({"n": 2})"), json(R"({"n": 4})")},
      {"without a kind", "", json(R"({"n": 2})"), json(R"({"n": 4})")},
  };
  const Kind kinds[] = {{"double", double_input}, {"negate", negate_input}};
  const Report report = run({"test", kinds, {}}, cases);
  EXPECT_EQ(to_text(report),
            "wrong: n: expected 5, found 4\n"
            "unreadable: given.n: found 20, expected an integer from 0 to 9\n"
            "misspelt: kind: found \"duoble\", expected one of double, negate (did you mean double?)\n"
            "without a kind: kind: found none, expected one of double, negate\n"
            "1 passed, 4 failed\n");
  const Value written = json(to_json(report).c_str());
  EXPECT_EQ(to_text(written["failed"]), "4");
  EXPECT_EQ(to_text((*written["failures"].array())[0]),
            R"({"id": "wrong", "problem": null, "differences": [{"field": "n", "expected": "5", "found": "4"}]})");
}

}  // namespace
}  // namespace capstan::conformance
