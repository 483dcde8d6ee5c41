#include "decide/scale/capstan/capacity.h"

#include <algorithm>
#include <cmath>

#include "base/portable_math.h"

namespace capstan::decide::scale {
namespace {

constexpr double kPs = 1e-12;
// vLLM's default limits of one step.
constexpr std::int32_t kBatchedTokens = 2048;
constexpr std::int32_t kSequences = 256;
/// Usable share of the KV memory; beyond it sequences are preempted and recomputed.
constexpr double kKvUse = 0.8;
/// Distance between the planned mean time per token and its bound, in standard deviations. The mean time per token
/// differs between requests, because steps also compute prompts of other requests.
constexpr double kTpotDeviations = 2.0;
/// Squared coefficient of variation of the time to compute a prompt.
constexpr double kPromptVariation = 1.0;
/// Share of prompts that may wait longer than TTFT allows on a replica that also decodes, according to the queue model.
/// The share is lax, because the model overestimates the waits there. If prompts wait longer than predicted
/// nevertheless, their misses raise the slack, which adds replicas.
constexpr double kQueueTail = 0.03;
constexpr double kPrefillQueueTail = 0.005;  ///< the same share on a prefill-only replica
constexpr double kMaxUse = 0.95;
/// Lowest planned utilization of a prefill-only replica. Below this utilization the model of a queue with one server no
/// longer applies: with many replicas a prompt finds an idle one, and more replicas do not remove the remaining waits.
constexpr double kMinPrefillUse = 0.3;
constexpr Duration kShapeMemory = std::chrono::minutes(5);
constexpr Duration kCorrectionMemory = std::chrono::minutes(10);
constexpr double kMaxCorrection = 2.0;             // limit of the factor and of its inverse, for an engine in the table
constexpr double kMaxCorrectionUnmodelled = 50.0;  // the same for an engine that is not in the table
constexpr double kMaxMilli = 1e15;

double matrix_ps(const EngineEstimate& engine, double tokens) {
  return static_cast<double>(engine::linear_ps(engine.step, static_cast<std::int64_t>(tokens)));
}

double decode_step_s(const EngineEstimate& engine, const Shape& shape, double batch) {
  const engine::StepCoefficients& c = engine.step;
  const double per_sequence = static_cast<double>(c.decode_per_request_ps + c.per_request_ps) +
                              static_cast<double>(c.decode_per_kv_token_ps) * shape.context;
  return (matrix_ps(engine, batch) + static_cast<double>(c.decode_fixed_ps + c.per_step_ps) + per_sequence * batch) *
         kPs * engine.correction;
}

/// Returns the time that one prompt token adds to the steps that compute it.
double prompt_token_s(const EngineEstimate& engine, const Shape& shape, double batch) {
  if (engine.role == model::Role::decode) return 0;  // other replicas compute its prompts
  const engine::StepCoefficients& c = engine.step;
  const double chunk = std::max(1.0, std::min(shape.prompt, engine.batched_tokens - batch));
  const double added = matrix_ps(engine, batch + chunk) - matrix_ps(engine, batch) +
                       static_cast<double>(c.prefill_fixed_ps) +
                       static_cast<double>(c.prefill_per_pair_fs) * chunk * shape.prompt / 2000.0;
  return (static_cast<double>(c.kappa_milli) / 1000.0 * added + static_cast<double>(c.per_request_ps)) / chunk * kPs *
         engine.correction;
}

/// Returns the time that a replica without other work needs for one prompt.
double prompt_alone_s(const EngineEstimate& engine, const Shape& shape) {
  const engine::StepCoefficients& c = engine.step;
  const double chunk = std::max(1.0, std::min(shape.prompt, engine.batched_tokens));
  const double chunks = std::max(1.0, shape.prompt / engine.batched_tokens);
  const double step = matrix_ps(engine, chunk) + static_cast<double>(c.per_step_ps + c.prefill_fixed_ps) +
                      static_cast<double>(c.prefill_per_pair_fs) * chunk * shape.prompt / 2000.0;
  return (chunks * step + static_cast<double>(c.per_request_ps)) * kPs * engine.correction;
}

/// Returns the mean number of running sequences to plan for an engine that takes at most `most`. The number varies by
/// chance, so one standard deviation is left free (square-root staffing, Halfin and Whitt 1981).
std::int64_t mean_sequences(std::int64_t most) {
  const double root = (std::sqrt(1 + 4 * static_cast<double>(most)) - 1) / 2;  // solves m + sqrt(m) = most
  return std::max<std::int64_t>(static_cast<std::int64_t>(root * root), 1);
}

/// Returns true if all but a share `tail` of the prompts wait at most `allowed_s` while prompts take a share `use` of
/// the replica's time. This is the tail of a queue with one server.
bool prompts_keep_up(double use, double allowed_s, double prompt_s, double tail) {
  const double scale_s = prompt_s * (1 + kPromptVariation) / 2;
  if (use > kMaxUse) return false;
  if (scale_s <= 0) return true;
  const double exponent = std::min(700.0, (1 - use) * allowed_s / scale_s);
  return use * portable_exp(-exponent) <= tail;
}

/// Returns the largest `use` for which `prompts_keep_up` is true.
double most_prefill_use(double allowed_s, double prompt_s) {
  double low = 0, high = kMaxUse;
  for (int i = 0; i < 24; ++i) {
    const double use = (low + high) / 2;
    (prompts_keep_up(use, allowed_s, prompt_s, kPrefillQueueTail) ? low : high) = use;
  }
  return low;
}

/// Checks whether a replica meets its SLO with a given batch, and whether the batch fits into its KV memory.
class SloCheck {
 public:
  SloCheck(const EngineEstimate& engine, const Shape& shape, const Load::VariantLoad& seen, const model::Slo& slo)
      : engine_(engine), shape_(shape), slo_(slo) {
    const bool is_measured = seen.kv_used > 0.02 && seen.running >= 1;
    const double held = is_measured ? seen.kv_used / seen.running : shape.context / std::max(engine.kv_tokens, 1.0);
    kv_batch_ = kKvUse / std::max(held, 1e-6);
  }

  bool tpot_holds(double batch) const {
    double bound = in_seconds(slo_.tpot);
    if (slo_.e2e > Duration{}) {
      const double by_e2e = in_seconds(slo_.e2e) / (3.0 * std::max(shape_.output, 1.0));
      bound = bound > 0 ? std::min(bound, by_e2e) : by_e2e;
    }
    if (bound <= 0) return true;
    return token_seconds(engine_, shape_, batch) + kTpotDeviations * token_deviation(engine_, shape_, batch) <= bound;
  }

  bool ttft_holds(double batch) const {
    const double bound = in_seconds(slo_.ttft);
    if (bound <= 0) return true;
    const double prompt_s = shape_.prompt * prompt_token_s(engine_, shape_, batch);
    const double chunks = std::max(1.0, shape_.prompt / std::max(1.0, engine_.batched_tokens - batch));
    const double alone_s = prompt_s + chunks * decode_step_s(engine_, shape_, batch);
    const double prompts_per_s =
        batch / token_seconds(engine_, shape_, batch) * shape_.prompt_per_output / std::max(shape_.prompt, 1.0);
    const double allowed_s = bound - 1.5 * alone_s;
    if (allowed_s <= 0) return false;
    return prompts_keep_up(prompts_per_s * prompt_s, allowed_s, prompt_s, kQueueTail);
  }

  bool kv_holds(double batch) const { return batch <= kv_batch_; }

 private:
  const EngineEstimate& engine_;
  const Shape& shape_;
  const model::Slo& slo_;
  double kv_batch_ = 0;
};

/// Returns the largest batch for which `holds` is true, or 0 if there is none. `holds` must be monotone.
template <typename Holds>
std::int64_t largest(std::int64_t most, Holds&& holds) {
  std::int64_t low = 0, high = most;
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (holds(static_cast<double>(middle)))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// Returns the capacity of a prefill-only replica. The queue of prompts limits the share of its time that may be used.
/// Nothing remains to decode after the first token.
Capacity prefill_capacity(const EngineEstimate& engine, const Shape& shape, const Load::VariantLoad& seen,
                          const model::Slo& slo) {
  const double prompt_s = prompt_alone_s(engine, shape);
  const double bound_s = in_seconds(slo.ttft);
  const bool bounded = bound_s > 0;
  Capacity out;
  out.out_of_reach = bounded && bound_s <= prompt_s;
  const double wait_s = std::max(bound_s - prompt_s, 0.0);
  const double use = bounded ? std::max(kMinPrefillUse, most_prefill_use(wait_s, prompt_s)) : kMaxUse;
  const SloCheck check(engine, shape, seen, {});
  const std::int64_t by_kv = largest(engine.sequences, [&](double b) { return check.kv_holds(b); });
  const double within = bounded ? std::min(bound_s / prompt_s, static_cast<double>(engine.sequences))
                                : static_cast<double>(engine.sequences);
  const auto by_ttft = static_cast<std::int64_t>(within);
  out.batch = std::max<std::int64_t>(1, std::min(by_kv, by_ttft));
  out.bound = by_kv < by_ttft               ? Sizing::Bound::kv
              : by_ttft == engine.sequences ? Sizing::Bound::sequences
                                            : Sizing::Bound::ttft;
  out.token_s = prompt_s;
  out.tokens_per_s = use / prompt_s;
  out.prompt_s = prompt_s / shape.prompt / use;
  return out;
}

/// Returns the weight of a new value in a mean over time. `seen` is the time for which there are values. The mean
/// covers all of this time or, if it is longer than `most`, about the last `most` of it.
double weight(Duration since_last, Duration seen, Duration most) {
  const double over_s = std::max(in_seconds(std::min(seen, most)), in_seconds(since_last));
  return over_s > 0 ? std::min(1.0, in_seconds(since_last) / over_s) : 0;
}

void move_mean(std::int64_t& mean_milli, double to, double by) {
  const double mean = static_cast<double>(mean_milli);
  mean_milli = static_cast<std::int64_t>(std::clamp(mean + by * (to * 1000.0 - mean), 0.0, kMaxMilli));
}

}  // namespace

EngineEstimate estimate_engine(const engine::EngineRow* row, std::int64_t correction_ppm, model::Role role,
                               const model::StepLimits& limits) {
  EngineEstimate estimate;
  estimate.role = role;
  estimate.modelled = row != nullptr;
  if (row == nullptr) row = &engine::EngineTable::bundled().rows().front();
  estimate.step = row->coefficients;
  estimate.kv_tokens = static_cast<double>(engine::kv_capacity_blocks(*row).value_or(1) * engine::kKvBlockTokens);
  const std::int32_t tokens = limits.max_batched_tokens > 0 ? limits.max_batched_tokens : kBatchedTokens;
  estimate.sequences = mean_sequences(std::min(limits.max_seqs > 0 ? limits.max_seqs : kSequences, tokens));
  estimate.batched_tokens = tokens;
  const double most = estimate.modelled ? kMaxCorrection : kMaxCorrectionUnmodelled;
  estimate.correction = std::clamp(static_cast<double>(correction_ppm) / 1e6, 1 / most, most);
  return estimate;
}

model::Slo role_slo(const model::Slo& slo, model::Role role) {
  model::Slo share = slo;
  if (role == model::Role::prefill) {
    // The first token may take a third of the end-to-end bound. `tpot_holds` allows the answer another third.
    if (share.ttft == Duration{}) share.ttft = slo.e2e / 3;
    share.tpot = share.e2e = Duration{};
  }
  if (role == model::Role::decode) share.ttft = Duration{};
  return share;
}

model::Slo slo_for_mean_prompt(model::Slo slo, const EngineEstimate& engine, const Shape& shape) {
  if (!slo.scales_with_prompt()) return slo;
  const double alone_ns = std::min(prompt_alone_s(engine, shape), 3600.0) * 1e9;
  slo.ttft = slo.ttft_of(Duration{static_cast<std::int64_t>(alone_ns)});
  slo.ttft_prefills_milli = 0;
  return slo;
}

double token_seconds(const EngineEstimate& engine, const Shape& shape, double batch) {
  return decode_step_s(engine, shape, batch) + shape.prompt_per_output * batch * prompt_token_s(engine, shape, batch);
}

double token_deviation(const EngineEstimate& engine, const Shape& shape, double batch) {
  // This assumes an answer of L / 2 tokens, where L is the mean length. While it is generated, `batch` / 2 prompts are
  // computed, with a Poisson deviation of sqrt(batch / 2). Per token of the answer, this is a deviation of
  // sqrt(2 x batch) / L.
  return prompt_token_s(engine, shape, batch) * shape.prompt_per_output * std::sqrt(2.0 * batch);
}

Shape learn_shape(const Load& load, const EngineEstimate& engine, Duration since_last, CapstanMemory& memory) {
  // A decode replica may see no prompt rate, because other replicas compute the prompts.
  const bool prompts_known = load.prompt_rate > 0 || engine.role == model::Role::decode;
  if (load.generated_rate > 0 && prompts_known) {
    memory.observed = std::min(memory.observed + since_last, kShapeMemory);
    const double by = weight(since_last, memory.observed, kShapeMemory);
    move_mean(memory.prompt_milli, load.prompt_rate, by);
    move_mean(memory.generated_milli, load.generated_rate, by);
    move_mean(memory.kv_tokens_milli, load.kv_used * engine.kv_tokens, by);
    move_mean(memory.running_milli, load.running, by);
  }
  const bool prefills = engine.role == model::Role::prefill;
  Shape shape;
  if (prefills) shape.prompt_per_output = shape.prompt;  // assumed until it is measured
  if (memory.generated_milli > 0 && memory.prompt_milli > 0) {
    shape.prompt_per_output =
        std::clamp(static_cast<double>(memory.prompt_milli) / static_cast<double>(memory.generated_milli), 0.001,
                   prefills ? 1'000'000.0 : 10'000.0);  // for prefill this is the prompt length
  }
  if (memory.running_milli > 0 && memory.kv_tokens_milli > 0) {
    shape.context = std::clamp(static_cast<double>(memory.kv_tokens_milli) / static_cast<double>(memory.running_milli),
                               16.0, 1'000'000.0);
  }
  if (prefills) {
    // A prefill replica generates only the first token of each answer.
    shape.output = 1;
    shape.prompt = shape.context = std::max(1.0, shape.prompt_per_output);
    return shape;
  }
  // A running sequence holds its prompt and, because lengths vary, about one mean output.
  shape.output = std::max(1.0, shape.context / (1 + shape.prompt_per_output));
  shape.prompt = std::max(1.0, shape.output * shape.prompt_per_output);
  return shape;
}

void learn_correction(const Load& load, std::uint32_t variant, const Shape& shape, Duration since_last,
                      VariantMemory known, EngineEstimate& engine) {
  if (engine.role == model::Role::prefill) return;
  double running = 0, delivered = 0, believed = 0;
  Shape now = shape;  // the mean request, with the ratio of prompts to answers of this interval
  if (load.generated_rate > 0) {
    now.prompt_per_output =
        std::clamp(load.prompt_rate / load.generated_rate, shape.prompt_per_output / 3, shape.prompt_per_output * 3);
  }
  for (const Load::ReplicaLoad& replica : load.replicas) {
    if (replica.variant != variant || replica.running < 1 || replica.generated_rate <= 0) continue;
    running += replica.running;
    delivered += replica.generated_rate;
    believed += replica.running / token_seconds(engine, now, replica.running);
  }
  if (running < 3 || delivered <= 0) return;
  const double most = engine.modelled ? kMaxCorrection : kMaxCorrectionUnmodelled;
  const double seen = std::clamp(believed / delivered * engine.correction, 1 / most, most);
  known.corrected = std::min(known.corrected + since_last, kCorrectionMemory);
  // If the engine table has a row for the model, the row has the weight of one minute of measurements.
  const Duration trusted = known.corrected + std::chrono::minutes(engine.modelled ? 1 : 0);
  const double by = weight(since_last, trusted, kCorrectionMemory);
  engine.correction += by * (seen - engine.correction);
  known.correction_ppm = static_cast<std::int64_t>(engine.correction * 1e6);
}

Capacity capacity(const EngineEstimate& engine, const Shape& shape, const Load::VariantLoad& seen,
                  const model::Slo& slo) {
  if (engine.role == model::Role::prefill) return prefill_capacity(engine, shape, seen, slo);
  const SloCheck check(engine, shape, seen, slo);
  Capacity out;
  out.batch = engine.sequences;
  const auto bound = [&](std::int64_t batch, Sizing::Bound by) {
    if (batch >= out.batch) return;
    out.batch = batch;
    out.bound = by;
  };
  bound(std::max<std::int64_t>(1, largest(engine.sequences, [&](double b) { return check.kv_holds(b); })),
        Sizing::Bound::kv);
  const std::int64_t by_tpot = largest(engine.sequences, [&](double b) { return check.tpot_holds(b); });
  const std::int64_t by_ttft = largest(engine.sequences, [&](double b) { return check.ttft_holds(b); });
  // A bound that a single sequence misses does not limit the batch, because more replicas would not help.
  if (by_tpot > 0) bound(by_tpot, Sizing::Bound::tpot);
  if (by_ttft > 0) bound(by_ttft, Sizing::Bound::ttft);
  out.out_of_reach = by_tpot == 0 || by_ttft == 0;
  out.token_s = token_seconds(engine, shape, static_cast<double>(out.batch));
  out.tokens_per_s = static_cast<double>(out.batch) / out.token_s;
  const auto batch = static_cast<double>(out.batch);
  out.decode_s = decode_step_s(engine, shape, batch) / batch;
  out.prompt_s = prompt_token_s(engine, shape, batch);
  return out;
}

}  // namespace capstan::decide::scale
