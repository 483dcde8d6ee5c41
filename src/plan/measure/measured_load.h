#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "plan/measure/queries.h"
#include "plan/measure/rate_series.h"
#include "plan/measure/token_lengths.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

/// The history that is measured, milliseconds since 1970.
struct MeasuredSpan {
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
};
/// Returns the history of a service that ends at `now_ms`, or a little earlier at a whole step.
MeasuredSpan measured_span(const MeasureSpec& measure, std::int64_t now_ms);

/// Builds the load of a service from the answers to its queries: a profile with the measured requests of each minute
/// and the measured lengths, and the figures that the page of the plan shows.
/// @param answers  answers in the order of the queries
/// @return an error that names the server and the query
Result<LoadSpec> measured_load(const ServiceSpec& service, const MeasureQueries& queries,
                               std::span<const signals::ApiAnswer> answers, MeasuredSpan span);

/// Returns the text of a profile: the requests of each minute, and lengths of prompts and answers that do not depend on
/// each other, because two histograms do not say which answer belongs to which prompt.
std::string profile_text(const std::string& source, const RateSeries& rate, const LengthRanges& prompts,
                         const LengthRanges& answers);

/// Returns "2026-11-24 18:00 UTC".
std::string utc_text(std::int64_t unix_ms);

}  // namespace capstan::plan
