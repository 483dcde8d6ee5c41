#include "conformance/peers.h"
#include "peers/formula/aibrix.h"

namespace capstan::conformance {
namespace {

using namespace peers;

constexpr std::int64_t kMaxPods = 1'000'000'000;

/// Reads the rates. A tolerance that is not stated is 0.
aibrix::Rates rates_of(const CaseInput& given) {
  const auto tolerance = [&](const char* key) {
    const CaseInput stated = given.find(key);
    return stated ? stated.number(0, 1000) : 0.0;
  };
  return {given["max_up_rate"].number(0, 1e9), given["max_down_rate"].number(1e-6, 1e9), tolerance("up_tolerance"),
          tolerance("down_tolerance")};
}

Value apa(const CaseInput& given) {
  return object({{"pods", aibrix::apa(given["current"].integer(0, kMaxPods), given["target"].number(),
                                      given["average"].number(), rates_of(given))}});
}

Value kpa(const CaseInput& given) {
  const aibrix::PanicState state{given["in_panic"].boolean(), given["max_panic_pods"].integer(0, kMaxPods)};
  return object({{"pods", aibrix::kpa(given["current"].integer(0, kMaxPods), given["target"].number(),
                                      given["stable_total"].number(), given["panic_total"].number(), state,
                                      given["activation_scale"].integer(0, kMaxPods), rates_of(given))}});
}

constexpr Kind kAibrixKinds[] = {
    {"apa", apa},
    {"kpa", kpa},
};

}  // namespace

std::span<const Kind> aibrix_kinds() { return kAibrixKinds; }

}  // namespace capstan::conformance
