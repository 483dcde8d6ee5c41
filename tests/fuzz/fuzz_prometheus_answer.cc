// Reads any bytes as the answer of a Prometheus server and converts it to signals.
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "signals/prometheus_signals.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  using namespace capstan::signals;
  const Result<ApiAnswer> answer = parse_api_answer({reinterpret_cast<const char*>(data), size}, "answer");
  if (!answer) {
    CAPSTAN_ASSERT(!answer.error().message.empty());
    return 0;
  }
  PrometheusSignals signals{PrometheusQuery{}};
  const Instant now{std::chrono::seconds(1000)};
  signals.take(*answer, now, 1'700'000'000'000);
  for (const std::string& target : signals.targets()) {
    for (const SubjectReadings& subject : signals.readings(target, now).subjects) {
      for (const SignalReading& reading : subject.signals) CAPSTAN_ASSERT(reading.signal.age >= Duration::zero());
    }
  }
  return 0;
}
