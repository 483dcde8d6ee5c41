#include "scenario/idle_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/unit_text.h"
#include "engine/step_model.h"
#include "manifest/fields.h"

namespace capstan::scenario {
namespace {

constexpr std::int64_t kMillionths = 1'000'000;

/// Returns the shortest length that a distribution can draw.
std::int64_t shortest(const workload::LengthSpec& length) {
  return length.kind == workload::LengthSpec::Kind::constant ? length.tokens : length.min;
}

/// Returns the generator of a load whose lengths the scenario states; null for any other load.
const workload::GeneratorSpec* stated_lengths(const workload::WorkloadSpec& load) {
  const auto* generator = std::get_if<workload::GeneratorSpec>(&load.from);
  return generator != nullptr && generator->lengths_profile.empty() ? generator : nullptr;
}

/// Returns the fewest prompt tokens that the engine computes for a request of the load. It is 1 if the scenario does
/// not state the lengths, and for sessions, because later turns find the beginning of their prompts in the prefix
/// cache.
std::int64_t shortest_prompt(const workload::WorkloadSpec& load) {
  const workload::GeneratorSpec* generator = stated_lengths(load);
  return generator == nullptr || generator->sessions ? 1
                                                     : std::max<std::int64_t>(1, shortest(generator->lengths.input));
}

/// Returns true if every answer has one token, so that no request has a time per output token.
bool answers_have_one_token(const workload::WorkloadSpec& load) {
  const workload::GeneratorSpec* generator = stated_lengths(load);
  return generator != nullptr && generator->lengths.output.kind == workload::LengthSpec::Kind::constant &&
         generator->lengths.output.tokens <= 1;
}

/// The shortest time of one kind of work among the replicas of an endpoint, and the row of the fastest replica.
struct ShortestTime {
  Duration time = Duration::max();
  const engine::EngineRow* row = nullptr;

  void take(engine::Picoseconds by_table, Duration fixed, std::int64_t perturbation_ppm, const engine::EngineRow& of) {
    const engine::Picoseconds lowest = by_table / kMillionths * (kMillionths - perturbation_ppm);
    const Duration found = fixed + Duration{lowest / engine::kPicosecondsPerNanosecond};
    if (found >= time) return;
    time = found;
    row = &of;
  }
};

std::string milliseconds_words(Duration duration) {
  return fmt::format("{:.3g} ms", std::chrono::duration<double, std::milli>(duration).count());
}

std::optional<ImpossibleBound> compared(const std::string& key, Duration bound, const ShortestTime& least,
                                        const std::string& work) {
  if (bound == Duration{} || least.row == nullptr || bound >= least.time) return std::nullopt;
  return ImpossibleBound{
      key, fmt::format("{} is shorter than {}, which takes {} or more on an idle replica ({} on {} {}), so that no "
                       "request can meet it; expected a longer bound, because under load a request takes longer",
                       manifest::duration_text(bound), work, milliseconds_words(least.time), least.row->model,
                       least.row->tp, least.row->gpu_name)};
}

}  // namespace

std::optional<ImpossibleBound> impossible_bound(const EndpointSpec& endpoint, const model::Slo& slo) {
  const std::int64_t prompt = shortest_prompt(endpoint.load);
  ShortestTime prefill, step;
  for (const RoleSpec& role : endpoint.roles) {
    const engine::StepModel model(role.engine->coefficients);
    const std::int64_t ppm = endpoint.engine_perturbation_ppm;
    if (role.replica.role != sim::EngineRole::decode) {
      prefill.take(model.prefill_alone_ps(prompt, 0, role.replica.max_batched_tokens), role.front_end, ppm,
                   *role.engine);
    }
    if (role.replica.role != sim::EngineRole::prefill) {
      step.take(model.decode_step_ps(1, 1), Duration{}, ppm, *role.engine);
    }
  }
  if (slo.ttft_prefills_milli == 0) {
    auto found =
        compared("ttft", slo.ttft, prefill, "the front end and a prompt of " + count_text(prompt, "token", "tokens"));
    if (found) return found;
  }
  if (answers_have_one_token(endpoint.load)) return std::nullopt;
  return compared("tpot", slo.tpot, step, "one step with a single request");
}

}  // namespace capstan::scenario
