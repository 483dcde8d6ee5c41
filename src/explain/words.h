#pragma once

#include <string>

#include "model/catalog.h"
#include "model/plan.h"

namespace capstan::explain {

/// Names for ids, with a fallback where the catalog has none.
std::string service_name(const model::Catalog& catalog, model::ServiceId id);
std::string offering_name(const model::Catalog& catalog, model::OfferingId id);
std::string domain_name(const model::Catalog& catalog, model::DomainId id);
std::string gpu_name(const model::Catalog& catalog, model::GpuKindId id);
std::string subject_name(const model::Catalog& catalog, const model::Plan::Kept& kept);

/// Thousandths of a GPU as "8" or "0.25".
std::string gpus_text(MilliGpu gpus);

}  // namespace capstan::explain
