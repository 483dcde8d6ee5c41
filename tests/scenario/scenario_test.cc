// Runs every failure that the guides explain. The result must equal the golden result, the guide must show it, and the
// claims of the case must hold. `scripts/golden` updates the golden files and the guides.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <string>

#include "experiment/compare.h"
#include "experiment/report/render.h"
#include "experiment/run/prepare.h"
#include "experiment/run/ranking.h"
#include "experiment/text/words.h"
#include "scenario/blocks.h"
#include "scenario/cases.h"
#include "scenario/figures.h"

namespace capstan::golden {

void PrintTo(const Case& item, std::ostream* out) { *out << item.name; }

namespace {

const std::string kRoot = CAPSTAN_SOURCE_DIR;
const std::string kTestFolder = kRoot + "/tests/scenario";

/// Returns true if scripts/golden runs the tests. Results are then written and not compared.
bool is_writing_golden() { return std::getenv("CAPSTAN_WRITE_GOLDEN") != nullptr; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    const auto read = read_cases(read_text(kTestFolder + "/cases.txt").value_or(""), "cases.txt");
    if (!read) ADD_FAILURE() << read.error().text();
    return read.value_or(std::vector<Case>());
  }();
  return all;
}

/// A comparison with verified runs.
struct VerifiedComparison {
  experiment::Comparison comparison;
  std::set<std::string> capstan_policies;  ///< policies that place and provision with Capstan
};

bool has_capstan_layers(const control::Policies& policies) {
  return policies.place->kind == decide::place::Policy::Kind::gang &&
         policies.provision->kind == decide::provision::Policy::Kind::group;
}

scenario::ScenarioResult read_scenario_of(const Case& item) {
  return scenario::read_scenario(kRoot + "/scenarios/" + item.scenario + ".yaml",
                                 {.sets = item.sets, .trace = {}, .seed = {}, .policies = {}});
}

/// Runs a comparison like `compare`, with verification: every decision is repeated and every balance is checked.
std::expected<VerifiedComparison, manifest::Errors> run_verified(const Case& item) {
  const auto scenario = read_scenario_of(item);
  if (!scenario) return std::unexpected(scenario.error());
  VerifiedComparison all{experiment::describe(*scenario), {}};
  for (const scenario::PolicySpec& policy : scenario->policies) {
    experiment::PreparedRun prepared = experiment::prepare(*scenario, policy, scenario->seed);
    prepared.setup.verify = true;
    auto result = experiment::simulate(prepared.setup);
    if (!result) return std::unexpected(result.error());
    all.comparison.results.push_back(std::move(*result));
    if (has_capstan_layers(policy.policies)) all.capstan_policies.insert(policy.policies.name);
  }
  experiment::rank(all.comparison.results, all.comparison.slo);
  return all;
}

const std::expected<VerifiedComparison, manifest::Errors>& run_of(const Case& item) {
  static std::map<std::string, std::expected<VerifiedComparison, manifest::Errors>> cache;
  const auto found = cache.find(item.name);
  return found != cache.end() ? found->second : cache.emplace(item.name, run_verified(item)).first->second;
}

const experiment::Comparison& result_of(const Case& item) { return run_of(item)->comparison; }

/// Returns the text of `compare` with its advice. Only the text needs the advice.
std::string text_of(const Case& item) {
  static std::map<std::string, std::string> cache;
  const auto found = cache.find(item.name);
  if (found != cache.end()) return found->second;
  experiment::Comparison comparison = result_of(item);
  const auto scenario = read_scenario_of(item);
  const auto advised = experiment::advise(*scenario, 0, {}, comparison);
  EXPECT_TRUE(advised) << advised.error().text();
  std::string arguments = "scenarios/" + item.scenario + ".yaml";
  for (const std::string& set : item.sets) arguments += " --set " + experiment::shell_word(set);
  return cache[item.name] = experiment::render_text(comparison, arguments, {.color = false, .width = 120});
}

class Scenario : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { ASSERT_TRUE(run_of(GetParam())) << run_of(GetParam()).error().text(); }
};

TEST_P(Scenario, EqualsItsGoldenResult) {
  const std::string path = kTestFolder + "/golden/" + GetParam().name + ".txt";
  if (is_writing_golden()) {
    ASSERT_TRUE(write_text(path, text_of(GetParam())));
  }
  EXPECT_EQ(read_text(path).value_or("no such file"), text_of(GetParam()))
      << "if the change is intended, run scripts/golden";
}

TEST_P(Scenario, SupportsItsClaims) {
  for (const Claim& claim : GetParam().claims) EXPECT_EQ(claim_fault(claim, result_of(GetParam())), "");
}

// No policy of these cases may break the invariants 4 to 8. A policy that places gangs and buys nodes with Capstan must
// keep the invariants 1 to 3, too; a baseline may break them.
TEST_P(Scenario, KeepsTheInvariants) {
  for (const experiment::RunResult& r : result_of(GetParam()).results) {
    SCOPED_TRACE(r.policy);
    EXPECT_EQ(r.invariants.not_repeatable, 0);
    EXPECT_EQ(r.invariants.unobservable_values, 0);
    EXPECT_EQ(r.invariants.not_conserved, 0);
    EXPECT_EQ(r.invariants.limit_exceeded, 0);
    EXPECT_EQ(r.invariants.expired_group_holds, 0);
    const experiment::RequestFigures& q = r.requests;
    EXPECT_EQ(q.arrived, q.completed + q.unmet() + q.in_flight + q.queued);
    if (!run_of(GetParam())->capstan_policies.contains(r.policy)) continue;
    EXPECT_EQ(r.invariants.partial_gang, 0);
    EXPECT_EQ(r.invariants.work_cut, 0);
    EXPECT_EQ(r.invariants.scale_downs_without_data, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Scenario, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

const Case* find_case(const std::string& name) {
  for (const Case& item : cases()) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

/// Returns the text of a block of a guide.
std::string block_text(const Block& block, const Case& item) {
  return block.kind == "result" ? "```\n" + text_of(item) + "```\n" : figures_table(result_of(item));
}

/// Returns the pages that show results: README.md and the guides.
std::vector<std::string> pages() {
  std::vector<std::string> paths{kRoot + "/README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(kRoot + "/docs/guides")) {
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
  }
  return paths;
}

TEST(Guides, ShowTheResultsOfTheSimulator) {
  std::size_t shown = 0;
  for (const std::string& path : pages()) {
    SCOPED_TRACE(path);
    std::string page = read_text(path).value_or("");
    for (const char* kind : {"result", "figures"}) {
      const std::size_t count = blocks(page, kind).size();
      for (std::size_t i = 0; i < count; ++i, ++shown) {
        const Block block = blocks(page, kind)[i];
        const Case* item = find_case(block.name);
        ASSERT_NE(item, nullptr) << block.name << " is not a case of cases.txt";
        ASSERT_TRUE(run_of(*item));
        const std::string text = block_text(block, *item);
        if (is_writing_golden()) page.replace(block.from, block.to - block.from, text);
        const Block now = blocks(page, kind)[i];
        EXPECT_EQ(page.substr(now.from, now.to - now.from), text) << "if the change is intended, run scripts/golden";
      }
    }
    if (is_writing_golden()) {
      EXPECT_TRUE(write_text(path, page));
    }
  }
  EXPECT_GE(shown, 9u);
}

/// The scenario that scripts/quickstart runs and README.md shows.
constexpr std::string_view kQuickstartScenario = "azure-hour";

TEST(Guides, ExistForEveryCase) {
  const std::string index = read_text(kRoot + "/docs/guides/README.md").value_or("");
  for (const Case& item : cases()) {
    SCOPED_TRACE(item.scenario);
    const bool is_quickstart = item.scenario == kQuickstartScenario;
    const std::string path = is_quickstart ? "/README.md" : "/docs/guides/" + item.scenario + ".md";
    const std::string page = read_text(kRoot + path).value_or("");
    EXPECT_NE(page.find("<!-- result " + item.scenario + " -->"), page.npos);
    EXPECT_TRUE(is_quickstart || index.find("(" + item.scenario + ".md)") != index.npos)
        << "not in docs/guides/README.md";
    EXPECT_GE(item.claims.size(), 1u) << item.name << " has no claims";
  }
}

TEST(Cases, AnErrorNamesTheLine) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"claim unmet of \"a\" > 1", "c:1:1: found \"claim unmet of \"a\" > 1\", expected a line with case before it"},
      {"case x\nclaim unmte of \"a\" > 1",
       "c:2:1: found \"claim unmte of \"a\" > 1\", expected claim FIGURE of \"POLICY\" < [NUMBER x] FIGURE of "
       "\"POLICY\", or a number"},
      {"case x\nnonsense", "c:2:1: found \"nonsense\", expected case, set or claim"},
  };
  for (const auto& row : rows) {
    const auto read = read_cases(row.text, "c");
    ASSERT_FALSE(read) << row.text;
    EXPECT_EQ(read.error().text(), row.error);
  }
}

TEST(Cases, AClaimThatFailsShowsItsNumbers) {
  experiment::Comparison comparison;
  comparison.results.resize(2);
  comparison.results[0].policy = "a > b";
  comparison.results[0].requests.rejected = 30;
  comparison.results[1].policy = "b";
  comparison.results[1].requests.rejected = 10;
  const auto read = read_cases(
      "case x of y\nset a.b=1\nclaim unmet of \"a > b\" > 2.5 x unmet of \"b\"\nclaim unmet of \"b\" < 10\n"
      "claim unmet of \"b\" = 10\nclaim unmet of \"c\" = 10",
      "c");
  ASSERT_TRUE(read);
  const Case& item = read->at(0);
  EXPECT_EQ(item.scenario, "y");
  EXPECT_EQ(item.sets.at(0), "a.b=1");
  EXPECT_EQ(claim_fault(item.claims.at(0), comparison), "");
  EXPECT_EQ(claim_fault(item.claims.at(1), comparison), "unmet of \"b\" < 10: the sides are 10.000 and 10.000");
  EXPECT_EQ(claim_fault(item.claims.at(2), comparison), "");
  EXPECT_EQ(claim_fault(item.claims.at(3), comparison), "unmet of \"c\" = 10: the comparison has no such policy");
}

}  // namespace
}  // namespace capstan::golden
