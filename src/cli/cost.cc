#include "cli/cost.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "manifest/scalars.h"
#include "plan/cost/answers.h"
#include "plan/cost/render_answers.h"

namespace capstan::cli {

namespace {

using plan::Evidence;
using plan::Statement;

/// Reads the numbers of a command line and keeps the first error.
class CostReader {
 public:
  MicroUsd usd(const std::string& text, std::string_view option) {
    const auto value = manifest::read_usd(text);
    if (!value || value->count < 0) fail(option, text, "an amount such as 6.88");
    return value.value_or(MicroUsd{});
  }
  /// @param most  largest share, millionths
  std::int64_t share_ppm(const std::string& text, std::string_view option, std::int64_t most = 1'000'000) {
    const auto value = manifest::read_share_ppm(text);
    if (!value || *value < 0 || *value > most) fail(option, text, "a share such as 30%");
    return value.value_or(0);
  }
  Duration duration(const std::string& text, std::string_view option) {
    const auto value = manifest::read_duration(text);
    if (!value) fail(option, text, "a duration with its unit, such as 4m10s");
    return value.value_or(Duration{});
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  void fail(std::string_view option, const std::string& text, std::string_view expected) {
    if (error_) return;
    error_ = Error{ErrorKind::usage, std::string(option), 0, 0, fmt::format("found '{}', expected {}", text, expected)};
  }
  std::optional<Error> error_;
};

std::vector<Statement> consolidation_answer(const CostArguments& arguments, CostReader& read) {
  plan::ConsolidationInput input{
      .replicas_ended_per_day = {},
      .cold_start = read.duration(arguments.cold_start, "--cold-start"),
      .gpus_per_replica = arguments.gpus_per_replica,
      .price = {read.usd(arguments.usd_per_gpu_hour, "--usd-per-gpu-hour"), Evidence::stated},
      .requests_per_s = arguments.requests_per_s,
      .replicas = arguments.replicas,
      .per_lost_request = {}};
  if (arguments.ended_per_day > 0) input.replicas_ended_per_day = arguments.ended_per_day;
  if (!arguments.usd_per_lost_request.empty()) {
    input.per_lost_request = read.usd(arguments.usd_per_lost_request, "--usd-per-lost-request");
  }
  return plan::consolidation_cost(input);
}

std::vector<Statement> serverless_answer(const CostArguments& arguments, CostReader& read) {
  plan::ServerlessInput input{.gpu_micro_usd_per_hour = read.usd(arguments.usd_per_hour, "--usd-per-hour").count,
                              .gpu_milli = std::llround(arguments.working_gpus * 1000),
                              .staff = {},
                              .staff_evidence = Evidence::stated};
  input.staff.per_year = read.usd(arguments.staff_usd_per_year, "--staff-usd-per-year");
  input.staff.share_ppm =
      static_cast<std::uint32_t>(read.share_ppm(arguments.staff_share, "--staff-share", plan::kMaxStaffSharePpm));
  if (!arguments.serverless_usd_per_gpu_hour.empty()) {
    input.staff.serverless_per_gpu_hour =
        read.usd(arguments.serverless_usd_per_gpu_hour, "--serverless-usd-per-gpu-hour");
  }
  return plan::serverless_cost(input);
}

std::vector<Statement> answer(const CostArguments& arguments, CostReader& read) {
  switch (arguments.question) {
    case CostQuestion::warm_pool:
      return {plan::warm_pool_cost(
          {.replicas = arguments.replicas,
           .gpus_per_replica = arguments.gpus_per_replica,
           .price = {read.usd(arguments.usd_per_gpu_hour, "--usd-per-gpu-hour"), Evidence::stated}})};
    case CostQuestion::tokens:
      return plan::token_cost({.micro_usd_per_hour = read.usd(arguments.usd_per_hour, "--usd-per-hour").count,
                               .tokens_per_s = arguments.tokens_per_s});
    case CostQuestion::idle:
      return {plan::idle_cost({.paid_micro_usd_per_hour = read.usd(arguments.usd_per_hour, "--usd-per-hour").count,
                               .idle_ppm = read.share_ppm(arguments.idle, "--idle")})};
    case CostQuestion::consolidation:
      return consolidation_answer(arguments, read);
    case CostQuestion::serverless:
      return serverless_answer(arguments, read);
  }
  return {};
}

}  // namespace

ExitCode cost(const CostArguments& arguments) {
  CostReader read;
  const std::vector<Statement> statements = answer(arguments, read);
  if (read.error()) return report(*read.error());
  return print(arguments.output == Output::json ? plan::answers_json(statements) : plan::answers_text(statements));
}

}  // namespace capstan::cli
