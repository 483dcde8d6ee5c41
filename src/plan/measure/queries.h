#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plan/measure/measurable_metrics.h"
#include "plan/spec/spec.h"
#include "signals/prometheus_api.h"

// The queries that measure a load. The first one asks which metrics there are; its answer decides the others.
namespace capstan::plan {

/// Returns the query that asks the Prometheus server which metrics of the service's engine it has, by model. The query
/// also asks for the request counters of the other engines, so that an error can name the engines that the server does
/// have.
std::string inventory_query(const ServiceSpec& service);

/// Purpose of a query.
enum class MeasuredPart : std::uint8_t {
  rate,            ///< requests per second over time
  in_flight,       ///< requests in flight over time
  prompt_lengths,  ///< buckets of a histogram
  prompt_sum,      ///< sum of the lengths, from the histogram
  prompt_tokens,   ///< tokens in the whole history, from a counter
  answer_lengths,
  answer_sum,
  answer_tokens,
};

struct MeasureQuery {
  MeasuredPart part{};
  std::string promql{};
  bool is_range = false;  ///< true: a range query over the history; false: an instant query at its end
};

/// The queries for one service, in the order of `MeasuredPart`.
struct MeasureQueries {
  std::string model{};  ///< value of the label of the model; empty: the series have none
  std::vector<MeasureQuery> queries{};

  const MeasureQuery* find(MeasuredPart part) const;
};

/// Chooses the metrics to measure the load with.
/// @return an error if the counter of finished requests is missing, or if its series have several models and it is not
///         clear which of them is the service's
Result<MeasureQueries> measure_queries(const ServiceSpec& service, const engine::EngineTable& engines,
                                       const signals::ApiAnswer& inventory);

/// Returns the span over which a rate is computed: four steps but at most two minutes, or the step if that is longer.
/// If the server scrapes once a minute, the span of a step below 30 s may have only one sample, which gives no rate.
Duration rate_window(Duration step);

/// Returns an error about an answer, which names the server and the query.
Error measure_error(const ServiceSpec& service, std::string_view query, std::string_view message);

}  // namespace capstan::plan
