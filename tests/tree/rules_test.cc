#include "tree/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tree/reasons.h"

namespace capstan::tree {
namespace {

// Tests of the rules: each rule must reject its bad examples and accept its good ones.

TEST(LineRules, EachRejectsItsBadLineAndAcceptsItsGoodLine) {
  std::set<std::string> names;
  for (const LineRule& rule : line_rules()) {
    SCOPED_TRACE(rule.name);
    EXPECT_TRUE(names.insert(rule.name).second) << "two rules of one name";
    const std::vector<Finding> bad = check_lines(make_source(rule.bad_path, std::string("\n") + rule.bad_line + "\n"));
    ASSERT_EQ(bad.size(), 1u);
    EXPECT_EQ(bad[0].line, 2u);
    EXPECT_TRUE(bad[0].message.starts_with(rule.name)) << bad[0].text();
    for (const Finding& finding : check_lines(make_source(rule.good_path, rule.good_line))) {
      ADD_FAILURE() << finding.text();
    }
  }
}

struct EdgeRow {
  const char* teaches;
  const char* path;
  const char* line;
  bool allowed;
};

constexpr EdgeRow kEdgeRows[] = {
    {"a room sees itself", "src/decide/scale/hpa.cc", "#include \"decide/scale/hpa.h\"", true},
    {"along one edge", "src/engine/step.cc", "#include \"model/ids.h\"", true},
    {"along several edges", "src/explain/line.cc", "#include \"base/time.h\"", true},
    {"never back", "src/model/node.h", "#include \"decide/scale/hpa.h\"", false},
    {"the loop does not know the simulator", "src/control/loop.cc", "#include \"sim/world.h\"", false},
    {"the simulator does not know the policies", "src/sim/world.cc", "#include \"decide/scale/hpa.h\"", false},
    {"decisions do not know the ports", "src/decide/scale/hpa.cc", "#include \"ports/world.h\"", false},
    {"tests keep to the graph too", "src/engine/step_test.cc", "#include \"sim/world.h\"", false},
    {"cli sees everything", "src/cli/main.cc", "#include \"experiment/compare.h\"", true},
    {"a folder sees the ones below it", "src/decide/provision/group.cc", "#include \"decide/place/fit.h\"", true},
    {"no folder sees one above it", "src/decide/place/fit.cc", "#include \"decide/provision/purchase_limits.h\"",
     false},
    {"files of a room are a folder too", "src/decide/text.cc", "#include \"decide/place/fit.h\"", false},
    {"the plan's pools do not know its sections", "src/plan/pools/pools.cc", "#include \"plan/sections/sections.h\"",
     false},
    {"the plan's search knows its pools", "src/plan/search/search.cc", "#include \"plan/pools/pools.h\"", true},
    {"no room may include cli", "src/experiment/compare.cc", "#include \"cli/main.h\"", false},
    {"a path from src/", "src/base/time_test.cc", "#include \"time.h\"", false},
    {"no path with dots", "src/base/time_test.cc", "#include \"../base/time.h\"", false},
    {"an unknown room", "src/base/time_test.cc", "#include \"attic/time.h\"", false},
    {"ours in quotes", "src/base/time_test.cc", "#include <base/time.h>", false},
    {"the standard's in brackets", "src/base/time_test.cc", "#include <chrono>", true},
};

TEST(Rooms, IncludesFollowTheGraph) {
  for (const EdgeRow& row : kEdgeRows) {
    SCOPED_TRACE(row.teaches);
    EXPECT_EQ(check_includes(make_source(row.path, row.line)).empty(), row.allowed);
  }
}

TEST(Rooms, TheBuildDeclaresOnlyEdgesOfTheGraph) {
  const auto findings = [](std::string_view text) {
    return check_declared_edges(make_source("src/CMakeLists.txt", text));
  };
  EXPECT_TRUE(findings("capstan_room(engine DEPENDS base model LIBRARIES fmt::fmt)\n").empty());
  EXPECT_TRUE(findings("# capstan_room(attic)\n").empty());
  EXPECT_EQ(findings("capstan_room(engine DEPENDS decide)\n").size(), 1u);
  EXPECT_EQ(findings("capstan_room(control\n  DEPENDS ports\n  sim)\n").size(), 1u);
  EXPECT_EQ(findings("capstan_room(attic)\n").size(), 1u);
}

TEST(Shape, LongLinesAreCountedInCharacters) {
  EXPECT_TRUE(check_shape(make_source("src/a/b.cc", std::string(120, 'x'))).empty());
  EXPECT_EQ(check_shape(make_source("src/a/b.cc", std::string(121, 'x'))).size(), 1u);
  std::string arrows;
  for (int i = 0; i < 120; ++i) arrows += "→";
  EXPECT_TRUE(check_shape(make_source("src/a/b.cc", arrows)).empty());
}

TEST(Shape, LongFilesAreCaught) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "int a;\n";
  EXPECT_TRUE(check_shape(make_source("src/a/b.cc", text)).empty());
  EXPECT_EQ(check_shape(make_source("src/a/b.cc", text + "int a;\n")).size(), 1u);
}

/// Returns the text of a function with this number of lines. With an indent it looks like a member.
std::string function(int lines, std::string_view indent = "") {
  std::string text = std::string(indent) + "void f() {\n";
  for (int i = 2; i < lines; ++i) text += i == 2 ? "\n" : std::string(indent) + "  a;\n";
  return text + std::string(indent) + "}\n";
}

TEST(Shape, LongFunctionsAreCaught) {
  const std::string two = "namespace {\n" + function(70) + function(70) + "}  // namespace\n";
  EXPECT_TRUE(check_shape(make_source("src/a/b.cc", two)).empty());
  const std::vector<Finding> found = check_shape(make_source("src/a/b.cc", function(70) + function(71)));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().line, 71u);
  const std::string once = "#pragma once\nstruct A {\n";
  EXPECT_TRUE(check_shape(make_source("src/a/b.h", once + function(70, "  ") + "};\n")).empty());
  EXPECT_EQ(check_shape(make_source("src/a/b.h", once + function(71, "  ") + "};\n")).size(), 1u);
  EXPECT_TRUE(check_shape(make_source("src/a/b_test.cc", function(71))).empty()) << "rows of a test may be many";
}

TEST(Shape, AHeaderBeginsWithPragmaOnce) {
  EXPECT_TRUE(check_shape(make_source("src/a/b.h", "// A comment.\n\n#pragma once\n")).empty());
  EXPECT_EQ(check_shape(make_source("src/a/b.h", "#include <map>\n#pragma once\n")).size(), 1u);
  EXPECT_EQ(check_shape(make_source("src/a/b.h", "")).size(), 1u);
}

TEST(Tested, ASourceNeedsATestBesideIt) {
  const Source lonely = make_source("src/sim/meter.cc", "");
  EXPECT_EQ(check_tested({lonely}).size(), 1u);
  EXPECT_TRUE(check_tested({lonely, make_source("src/sim/meter_test.cc", "")}).empty());
  EXPECT_TRUE(check_tested({lonely, make_source("src/sim/all_test.cc", "#include \"sim/meter.h\"")}).empty());
  EXPECT_EQ(check_tested({lonely, make_source("src/cli/x_test.cc", "#include \"sim/meter.h\"")}).size(), 1u)
      << "a test of another room does not count";
  EXPECT_TRUE(check_tested({make_source("src/cli/main.cc", "")}).empty());
  const std::vector<Finding> absent = check_exceptions({});
  EXPECT_NE(std::ranges::find(absent, "src/kube/authored_objects.cc", &Finding::path), absent.end());

  const Source part = make_source("src/sim/meter_money.cc", "#include \"sim/meter.h\"");
  EXPECT_TRUE(check_tested({part, make_source("src/sim/all_test.cc", "#include \"sim/meter.h\"")}).empty());
  const Source support = make_source("src/sim/testing.h", "#include \"sim/meter.h\"");
  EXPECT_TRUE(
      check_tested({lonely, support, make_source("src/sim/all_test.cc", "#include \"sim/testing.h\"")}).empty());
  const Source user = make_source("src/sim/fleet.cc", "#include \"sim/meter.h\"");
  const Source header = make_source("src/sim/fleet.h", "");
  EXPECT_EQ(check_tested({user, header, make_source("src/sim/all_test.cc", "#include \"sim/meter.h\"")}).size(), 1u)
      << "a source that only uses a tested header is not tested";
}

struct CodeRow {
  const char* teaches;
  const char* text;
  const char* code;
};

constexpr CodeRow kCodeRows[] = {
    {"comments are removed", "a; // std::cout", "a; "},
    {"a block too, over lines", "a /* std::cout\n std::cout */ b", "a \n              b"},
    {"literals are emptied", "f(\"std::cout // \\\" x\");", "f(\"\");"},
    {"a raw literal too", "f(R\"(a \" b)\", R\"x(y)\" )x\");", "f(\"\", \"\");"},
    {"quotes as characters", "f('\"', '\\'', 1'000);", "f('', '', 1'000);"},
    {"an include keeps its path", "#include \"base/time.h\"", "#include \"base/time.h\""},
};

TEST(CodeOnly, Rows) {
  for (const CodeRow& row : kCodeRows) {
    SCOPED_TRACE(row.teaches);
    const std::vector<std::string> expected = make_source("expected.md", row.code).lines;
    const std::vector<std::string> code = make_source("src/a/b.cc", row.text).code;
    ASSERT_EQ(code.size(), expected.size());
    for (std::size_t i = 0; i < code.size(); ++i) {
      // The number of spaces that replace a comment does not matter.
      std::string a = code[i], b = expected[i];
      std::erase(a, ' ');
      std::erase(b, ' ');
      EXPECT_EQ(a, b);
    }
  }
}

TEST(Reasons, CountOnlyUsesInCode) {
  const std::vector<Finding> findings =
      check_reasons({make_source("src/model/reasons.inc",
                                 "// CAPSTAN_REASON(code, ...)\nCAPSTAN_REASON(given, \"a\")\n"
                                 "CAPSTAN_REASON(tested, \"b\")\nCAPSTAN_REASON(said, \"c\")\n"),
                     make_source("src/decide/a.cc", "return ReasonCode::given;  // said\n"),
                     make_source("src/decide/a_test.cc", "EXPECT_EQ(code, ReasonCode::tested);\n")});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].text(), "src/model/reasons.inc:3: no decision gives the reason tested");
  EXPECT_EQ(findings[1].text(), "src/model/reasons.inc:4: no decision gives the reason said");
}

}  // namespace
}  // namespace capstan::tree
