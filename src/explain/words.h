#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/number_text.h"
#include "base/quantity.h"
#include "base/time.h"
#include "base/unit_text.h"
#include "model/catalog.h"
#include "model/names.h"
#include "model/plan.h"

namespace capstan::explain {

// These functions return the name of an id, or a text such as "service 3" if the catalog has no name.
std::string service_name(const model::Catalog& catalog, model::ServiceId id);
std::string offering_name(const model::Catalog& catalog, model::OfferingId id);
std::string domain_name(const model::Catalog& catalog, model::DomainId id);
std::string gpu_name(const model::Catalog& catalog, model::GpuKindId id);
std::string pool_name(const model::Catalog& catalog, model::PoolId id);
std::string queue_name(const model::Catalog& catalog, model::QueueId id);
std::string subject_name(const model::Catalog& catalog, const model::Plan::NoAction& kept);

/// Returns the name of a gang, or "gang 7".
/// @param names  null: no gang has a name
std::string gang_name(const model::Names* names, model::GangId id);

// These functions write numbers as people read them, without raw units.

/// Returns GPUs as "8" or "0.25".
std::string gpus_text(MilliGpu gpus);
using capstan::count_text;
using capstan::decimal_text;
using capstan::percent_text;
using capstan::time_text;
/// Returns a price per hour: "2.40 USD/h".
std::string price_text(MicroUsd per_hour);
std::string replicas_text(std::int64_t count);

}  // namespace capstan::explain
