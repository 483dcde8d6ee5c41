#include "decide/place/passes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "decide/provision/provision.h"

namespace capstan::decide::place {
namespace {

using Names = std::vector<std::string_view>;

TEST(Passes, EachKindOfPolicyHasItsOwn) {
  EXPECT_EQ(pass_names(Policy::Kind::first_fit), Names{"bind_pods"});
  EXPECT_EQ(pass_names(Policy::Kind::gang), (Names{"bind_gangs", "evict_broken", "refuse_oversized", "state_shortfalls",
                                                   "nominate_claims", "reserve_planned"}));
}

TEST(Passes, ThePageDescribesThemInTheirOrder) {
  std::ifstream file(CAPSTAN_SOURCE_DIR "/docs/design/passes.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  std::size_t at = 0;
  const auto expect_next = [&](std::string_view name) {
    const std::size_t next = page.find("\n| `" + std::string(name) + "` |", at);
    EXPECT_NE(next, page.npos) << name << " has no row, or it is in another order";
    at = next == page.npos ? at : next;
  };
  for (const auto& pass : passes()) expect_next(pass.name);
  using provision::Policy;
  const Names group = provision::pass_names(Policy::Kind::group);
  for (const Names& names : {provision::pass_names(Policy::Kind::per_pod), group}) {
    const std::size_t begin = at;
    for (const std::string_view name : names) expect_next(name);
    at = begin;
  }
}

TEST(PassesDeathTest, ABrokenInvariantEndsTheProgramWithTheNameOfThePass) {
  struct Policied {
    struct {
      int kind = 0;
      PassesOff off;
    } policy;
    int runs = 0;
  };
  using TestPass = Pass<int, Policied>;
  const TestPass all[] = {{"first", {}, [](Policied& context) { ++context.runs; }},
                          {"other_kind", 1, [](Policied& context) { context.runs += 10; }},
                          {"second", {}, [](Policied& context) { ++context.runs; }}};
  const auto broken = [](const Policied& context) { return std::string(context.runs > 1 ? "2: too many" : ""); };
  Policied context;
  EXPECT_DEATH(run_passes(std::span<const TestPass>(all), context, Verify::yes, broken), "second: 2: too many");
  context.policy.off = {"first"};
  run_passes(std::span<const TestPass>(all), context, Verify::yes, broken);
  EXPECT_EQ(context.runs, 1);
}

}  // namespace
}  // namespace capstan::decide::place
