#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "base/time.h"
#include "model/catalog.h"
#include "model/plan.h"

namespace capstan::explain {

/// Names of ids, with a fallback such as "service 3" where the catalog has none.
std::string service_name(const model::Catalog& catalog, model::ServiceId id);
std::string offering_name(const model::Catalog& catalog, model::OfferingId id);
std::string domain_name(const model::Catalog& catalog, model::DomainId id);
std::string gpu_name(const model::Catalog& catalog, model::GpuKindId id);
std::string pool_name(const model::Catalog& catalog, model::PoolId id);
std::string queue_name(const model::Catalog& catalog, model::QueueId id);
std::string subject_name(const model::Catalog& catalog, const model::Plan::Kept& kept);

/// Numbers as people read them. None of these texts shows a raw unit.

/// GPUs as "8" or "0.25".
std::string gpus_text(MilliGpu gpus);
/// Thousandths with one decimal: "3.4", "3". A positive value below a tenth keeps its first digit: "0.04".
std::string decimal_text(std::int64_t thousandths);
/// Millionths as a percentage: "85 %", "0.5 %", "0.002 %".
std::string percent_text(std::int64_t millionths);
/// A price of an hour: "2.40 USD/h".
std::string price_text(MicroUsd per_hour);
/// A duration in at most two units: "2 min 9 s", "1 h", "3.4 s", "12 ms".
std::string time_text(Duration duration);
/// A number with the noun that goes with it: "1 replica", "3 replicas".
std::string count_text(std::int64_t count, std::string_view one, std::string_view many);
std::string replicas_text(std::int64_t count);

}  // namespace capstan::explain
