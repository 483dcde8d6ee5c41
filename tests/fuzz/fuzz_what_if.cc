// Reads any bytes as a change of a scenario. A change that is read lies within its limits.
#include "base/assert.h"
#include "serve/what_if.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan::serve;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto change =
      parse_what_if(bytes, {.has_spot = true, .has_minimum = true, .min_replicas = 1, .max_replicas = 8});
  if (!change) {
    CAPSTAN_ASSERT(!change.error().message.empty());
    return 0;
  }
  for (const std::optional<double>& factor : {change->load_factor, change->price_factor}) {
    CAPSTAN_ASSERT(!factor || (*factor >= kMinFactor && *factor <= kMaxFactor));
  }
  const std::optional<double>& spot = change->spot_interruptions_percent_per_hour;
  CAPSTAN_ASSERT(!spot || (*spot >= 0 && *spot <= kMaxSpotPercent));
  CAPSTAN_ASSERT(!change->min_replicas || (*change->min_replicas >= 0 && *change->min_replicas <= 8));
  return 0;
}
