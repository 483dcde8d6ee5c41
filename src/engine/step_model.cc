#include "engine/step_model.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace capstan::engine {
namespace {

constexpr std::int64_t kDenseTokens = 1025;    // covers all decode batches and most mixed steps; 8 kB
constexpr std::int64_t kDenseRequests = 1025;  // vLLM's largest default batch is 1024

}  // namespace

Picoseconds linear_ps(const StepCoefficients& coefficients, std::int64_t n) {
  const auto& grid = StepCoefficients::kGrid;
  if (n <= grid.front()) return n <= 0 ? 0 : coefficients.linear_ps.front();
  const auto above = std::upper_bound(grid.begin(), grid.end(), n);
  const std::size_t hi = std::min<std::size_t>(static_cast<std::size_t>(above - grid.begin()), grid.size() - 1);
  const std::size_t lo = hi - 1;
  const Picoseconds rise = coefficients.linear_ps[hi] - coefficients.linear_ps[lo];
  return coefficients.linear_ps[lo] + rise * (n - grid[lo]) / (grid[hi] - grid[lo]);
}

StepModel::StepModel(const StepCoefficients& coefficients) : coefficients_(coefficients) {
  const StepCoefficients& c = coefficients_;
  CAPSTAN_ASSERT(std::is_sorted(c.linear_ps.begin(), c.linear_ps.end()));
  CAPSTAN_ASSERT(c.linear_ps.front() > 0 && c.decode_per_kv_token_ps >= 0 && c.prefill_per_pair_fs >= 0);
  CAPSTAN_ASSERT(c.decode_fixed_ps >= 0 && c.decode_per_request_ps >= 0 && c.prefill_fixed_ps >= 0);
  CAPSTAN_ASSERT(c.kappa_milli >= 0 && c.per_request_ps >= 0 && c.per_step_ps >= 0);
  dense_.resize(kDenseTokens);
  for (std::int64_t n = 0; n < kDenseTokens; ++n)
    dense_[static_cast<std::size_t>(n)] = engine::linear_ps(coefficients, n);
  decode_base_.resize(kDenseRequests);
  for (std::int64_t b = 0; b < kDenseRequests; ++b) {
    decode_base_[static_cast<std::size_t>(b)] = computed_decode_base_ps(b);
  }
}

Picoseconds StepModel::computed_decode_base_ps(std::int64_t requests) const {
  const StepCoefficients& c = coefficients_;
  return linear_ps(requests) + c.decode_fixed_ps + (c.decode_per_request_ps + c.per_request_ps) * requests +
         c.per_step_ps;
}

std::int64_t StepModel::decode_steps_within(std::int64_t requests, std::int64_t kv_tokens, Picoseconds elapsed) const {
  const Picoseconds first = decode_step_ps(requests, kv_tokens);
  if (elapsed < first) return 0;
  // The root of a/2 k² + (first - a/2) k = elapsed, where a is the growth per step, is a floating-point estimate of the
  // number of steps k. The loops below correct it with exact integers.
  const double half_growth = 0.5 * static_cast<double>(coefficients_.decode_per_kv_token_ps * requests);
  const double linear = static_cast<double>(first) - half_growth;
  const double target = static_cast<double>(elapsed);
  const double root = 2.0 * target / (linear + std::sqrt(linear * linear + 4.0 * half_growth * target));
  auto steps = static_cast<std::int64_t>(root);
  while (decode_steps_ps(requests, kv_tokens, steps) > elapsed) --steps;
  while (decode_steps_ps(requests, kv_tokens, steps + 1) <= elapsed) ++steps;
  return steps;
}

Picoseconds StepModel::step_ps(std::int64_t requests, std::int64_t kv_tokens, std::int64_t prefill_tokens,
                               std::int64_t doubled_pairs, std::int64_t chunks) const {
  if (chunks == 0) return decode_step_ps(requests, kv_tokens);
  const StepCoefficients& c = coefficients_;
  const Picoseconds decode_linear = requests > 0 ? linear_ps(requests) : 0;
  const Picoseconds decode_attention =
      requests > 0 ? c.decode_fixed_ps + c.decode_per_request_ps * requests + c.decode_per_kv_token_ps * kv_tokens : 0;
  const Picoseconds prefill_attention = c.prefill_fixed_ps + c.prefill_per_pair_fs * doubled_pairs / 2000;
  // Prefill adds F[n] + Td + Tp - dec (symbols of data/README.md). Td and dec both include the decode attention, which
  // cancels.
  const Picoseconds added = linear_ps(requests + prefill_tokens) - decode_linear + prefill_attention;
  return decode_linear + decode_attention + c.kappa_milli * added / 1000 + c.per_request_ps * (requests + chunks) +
         c.per_step_ps;
}

Picoseconds StepModel::step_ps(std::int64_t requests, std::int64_t kv_tokens,
                               std::span<const PrefillChunk> chunks) const {
  std::int64_t tokens = 0;
  std::int64_t pairs = 0;
  for (const PrefillChunk& chunk : chunks) {
    tokens += chunk.tokens;
    pairs += doubled_pairs(chunk);
  }
  return step_ps(requests, kv_tokens, tokens, pairs, static_cast<std::int64_t>(chunks.size()));
}

Picoseconds StepModel::prefill_alone_ps(std::int64_t tokens, std::int64_t computed, std::int64_t max_chunk) const {
  Picoseconds time = 0;
  while (computed < tokens) {
    const PrefillChunk chunk{std::min(max_chunk, tokens - computed), computed};
    time += step_ps(0, 0, {&chunk, 1});
    computed += chunk.tokens;
  }
  return time;
}

}  // namespace capstan::engine
