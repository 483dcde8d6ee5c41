// Reads any bytes as consecutive pages of one target, separated by form feeds. Signals must be within their bounds, and
// totals must never fall.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "signals/target_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  using namespace capstan::signals;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  TargetReader reader{TargetOptions{}};
  Instant now{std::chrono::seconds(10)};
  std::map<std::string, std::array<std::int64_t, kSignalCount>> last;
  for (int pages = 0; pages < 8 && !rest.empty(); ++pages) {
    const std::string_view page = rest.substr(0, rest.find('\f'));
    rest.remove_prefix(std::min(rest.size(), page.size() + 1));
    now = now + std::chrono::seconds(1);
    reader.read(page, Exposition::text, "page", {now, 0});
    const TargetReadings readings = reader.readings(now);
    CAPSTAN_ASSERT((readings.page == MissingReason::bad_page) == readings.error.has_value());
    for (const SubjectReadings& subject : readings.subjects) {
      auto& totals = last[subject.subject];
      for (std::size_t i = 0; i < kSignalCount; ++i) {
        const model::Signal& signal = subject.signals[i].signal;
        if (!signal.usable()) continue;
        CAPSTAN_ASSERT(signal.value >= 0 && signal.age >= Duration::zero());
        if (!kSignals[i].name.ends_with("_total")) {
          CAPSTAN_ASSERT(signal.value <= kSignals[i].max);
          continue;
        }
        CAPSTAN_ASSERT(signal.value >= totals[i]);
        totals[i] = signal.value;
      }
    }
  }
  return 0;
}
