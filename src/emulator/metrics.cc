#include "emulator/metrics.h"

#include <array>

namespace capstan::emulator {
namespace {

/// Converts bucket bounds from milliseconds to nanoseconds.
template <std::size_t N>
constexpr std::array<std::int64_t, N> from_ms(const std::int64_t (&ms)[N]) {
  std::array<std::int64_t, N> ns{};
  for (std::size_t i = 0; i < N; ++i) ns[i] = ms[i] * 1'000'000;
  return ns;
}

// Source: vllm/v1/metrics/loggers.py.
constexpr auto kVllmTtft =
    from_ms({1,    5,    10,   20,   40,     60,     80,     100,    250,     500,     750,
             1000, 2500, 5000, 7500, 10'000, 20'000, 40'000, 80'000, 160'000, 640'000, 2'560'000});
constexpr auto kVllmToken = from_ms(
    {10, 25, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 2500, 5000, 7500, 10'000, 20'000, 40'000, 80'000});
constexpr auto kVllmRequest =
    from_ms({300,    500,    800,    1000,   1500,    2000,    2500,    5000,    10'000,    15'000,   20'000,
             30'000, 40'000, 50'000, 60'000, 120'000, 240'000, 480'000, 960'000, 1'920'000, 7'680'000});

// Source: sglang/srt/observability/metrics_collector.py.
constexpr auto kSglangTtft = from_ms({100, 200, 400, 600, 800, 1000, 2000, 4000, 6000, 8000, 10'000, 20'000, 40'000,
                                      60'000, 80'000, 100'000, 200'000, 400'000});
constexpr auto kSglangToken =
    from_ms({2, 4, 6, 8, 10, 15, 20, 25, 30, 35, 40, 60, 80, 100, 200, 400, 600, 800, 1000, 2000, 4000, 6000, 8000});
constexpr auto kSglangRequest =
    from_ms({100,    200,    400,    600,    800,     1000,    2000,    4000,    6000,      8000,      10'000,
             20'000, 40'000, 60'000, 80'000, 100'000, 200'000, 400'000, 600'000, 1'200'000, 1'800'000, 2'400'000});

/// The bounds 1, 2, 5, 10, ... up to the longest prompt.
constexpr std::array<std::int64_t, 19> kTokens = {
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10'000, 20'000, 50'000, 100'000, 200'000, 500'000, 1'000'000};

}  // namespace

RequestMetrics::RequestMetrics(Dialect dialect)
    : ttft(dialect == Dialect::vllm ? std::span<const std::int64_t>(kVllmTtft) : kSglangTtft),
      inter_token(dialect == Dialect::vllm ? std::span<const std::int64_t>(kVllmToken) : kSglangToken),
      token_mean(inter_token.bounds()),
      e2e(dialect == Dialect::vllm ? std::span<const std::int64_t>(kVllmRequest) : kSglangRequest),
      queue(e2e.bounds()),
      prefill(e2e.bounds()),
      decode(e2e.bounds()),
      inference(e2e.bounds()),
      prompt_tokens(kTokens),
      generated_tokens(kTokens) {}

}  // namespace capstan::emulator
