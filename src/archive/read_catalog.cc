#include "archive/read_catalog.h"

#include <set>
#include <string>

#include "archive/rows.h"

namespace capstan::archive {
namespace {

using manifest::Fields;
using manifest::Node;
using manifest::Verdict;

void read_domains(Fields& from, model::Catalog& catalog, Verdict& verdict) {
  for (const Node& item : from.list("domains")) {
    Fields fields(item, "catalog.domains", verdict);
    model::Domain domain;
    fields.text("name", domain.name);
    read_word(fields, verdict, "level", domain.level);
    // A parent stands before its children: so no chain of parents is a ring.
    read_ref(fields, verdict, "parent", domain.parent, within(catalog.domains));
    fields.finish();
    catalog.domains.push_back(std::move(domain));
  }
}

void read_offerings(Fields& from, model::Catalog& catalog, Verdict& verdict) {
  for (const Node& item : from.list("offerings")) {
    Fields fields(item, "catalog.offerings", verdict);
    model::Offering offering;
    fields.text("instance_type", offering.instance_type);
    need_ref(fields, verdict, "gpu", offering.gpu, within(catalog.gpu_kinds));
    fields.integer("gpus", offering.gpus, 1, 1'000);
    need_ref(fields, verdict, "zone", offering.zone, within(catalog.domains));
    read_word(fields, verdict, "capacity", offering.capacity);
    fields.integer("micro_usd_per_hour", offering.price_per_hour.count, 0, 1'000'000'000'000);
    fields.finish();
    catalog.offerings.push_back(std::move(offering));
  }
}

void read_pools(Fields& from, model::Catalog& catalog, Verdict& verdict) {
  for (const Node& item : from.list("pools")) {
    Fields fields(item, "catalog.pools", verdict);
    model::Pool pool;
    fields.text("name", pool.name);
    fields.integer("gpu_limit", pool.gpu_limit, 0, kMaxGpus);
    read_refs(fields, verdict, "offerings", pool.offerings, within(catalog.offerings));
    fields.finish();
    catalog.pools.push_back(std::move(pool));
  }
}

void read_queues(Fields& from, model::Catalog& catalog, Verdict& verdict) {
  for (const Node& item : from.list("queues")) {
    Fields fields(item, "catalog.queues", verdict);
    model::Queue queue;
    fields.text("name", queue.name);
    // A parent stands before its children: so no chain of parents is a ring.
    read_ref(fields, verdict, "parent", queue.parent, within(catalog.queues));
    if (item.find("limit_milli") != nullptr) {
      fields.integer("limit_milli", queue.limit.emplace().count, 0, kMaxGpus * 1'000);
    }
    fields.boolean("closed", queue.closed);
    fields.finish();
    catalog.queues.push_back(std::move(queue));
  }
}

model::Variant read_variant(const Node& item, const model::Catalog& catalog, Verdict& verdict) {
  Fields fields(item, "catalog.services.variants", verdict);
  model::Variant variant;
  variant.engine.clear();  // what the file leaves out is empty, whatever a new variant begins with
  variant.dtype.clear();
  fields.text("name", variant.name);
  fields.text("model", variant.model);
  fields.text("engine", variant.engine);
  need_ref(fields, verdict, "gpu", variant.gpu, within(catalog.gpu_kinds));
  fields.integer("tensor_parallel", variant.tensor_parallel, 1, 1'024);
  fields.text("dtype", variant.dtype);
  read_word(fields, verdict, "role", variant.role);
  fields.integer("pods", variant.pods, 1, 1'024);
  if (whole_gpus(variant.tensor_parallel).count < variant.pods) {
    verdict.fail(item.place, "catalog.services.variants.pods: " + std::to_string(variant.pods) + " pods share " +
                                 std::to_string(variant.tensor_parallel) +
                                 " GPUs, expected at least a thousandth of a GPU for each");
  }
  read_word(fields, verdict, "together", variant.together);
  fields.integer("max_seqs", variant.step_limits.max_seqs, 0, 1 << 24);
  fields.integer("max_batched_tokens", variant.step_limits.max_batched_tokens, 0, 1 << 24);
  read_ref(fields, verdict, "queue", variant.queue, within(catalog.queues));
  fields.boolean("placed_elsewhere", variant.placed_elsewhere);
  read_closed(fields, verdict, variant.closed, catalog);
  fields.integer("micro_usd_per_hour", variant.price_per_hour.count, 0, 1'000'000'000'000);
  fields.finish();
  return variant;
}

/// Decode replicas are fed by prefill replicas, which may stand before or behind them.
void check_feeding(const Fields& from, const model::Catalog& catalog, Verdict& verdict) {
  const auto role_of = [](const model::Service& service) { return service.variants.front().role; };
  for (const model::Service& service : catalog.services) {
    if (!service.fed_by.valid() || service.variants.empty()) continue;
    const std::uint32_t feeds = service.fed_by.value;
    const bool exists = feeds < catalog.services.size() && !catalog.services[feeds].variants.empty();
    if (!exists || role_of(catalog.services[feeds]) != model::Role::prefill) {
      verdict.fail(from.node().place, "catalog.services.fed_by: there is no prefill service " + std::to_string(feeds) +
                                          ", expected the id of one in this file");
    } else if (role_of(service) != model::Role::decode) {
      verdict.fail(from.node().place,
                   "catalog.services.fed_by: found on \"" + service.name + "\", expected it on decode replicas only");
    }
  }
}

/// Services that stand beside another: of its role, beside no other, and with none beside themselves.
void check_beside(const Fields& from, const model::Catalog& catalog, Verdict& verdict) {
  std::set<model::ServiceId> stand_beside;
  const auto fail = [&](const model::Service& service, const std::string& what) {
    verdict.fail(from.node().place, "catalog.services.beside: found on \"" + service.name + "\" " + what);
  };
  for (const model::Service& service : catalog.services) {
    if (service.beside.size() > model::Service::kBesideMost) {
      return fail(service, std::to_string(service.beside.size()) + " services, expected at most " +
                               std::to_string(model::Service::kBesideMost));
    }
    for (const model::ServiceId id : service.beside) {
      const std::string which = "service " + std::to_string(id.value);
      if (id.value >= catalog.services.size() || catalog.services[id.value].variants.empty()) {
        return fail(service, which + ", which is not in this file");
      }
      const model::Service& other = catalog.services[id.value];
      if (&other == &service || !other.beside.empty()) {
        return fail(service, which + ", expected one that has none beside itself");
      }
      if (!service.variants.empty() && other.variants.front().role != service.variants.front().role) {
        return fail(service, which + ", expected one of the same role");
      }
      if (!stand_beside.insert(id).second) return fail(service, which + ", which is beside another already");
    }
  }
}

model::BoundsWindow read_window(const Node& node, Verdict& verdict) {
  Fields fields(node, "catalog.services.windows", verdict);
  model::BoundsWindow window;
  std::string start;
  fields.text("start", start);
  std::int64_t duration_ns = 0;
  fields.integer("duration_ns", duration_ns, 0, model::BoundsWindow::kLongest.count());
  window.duration = Duration{duration_ns};
  if (node.find("min") != nullptr) fields.integer("min", window.min.emplace(), 0, kMaxReplicas);
  if (node.find("max") != nullptr) fields.integer("max", window.max.emplace(), 1, kMaxReplicas);
  fields.finish();
  if (Result<Cron> cron = Cron::parse(start)) {
    window.start = std::move(*cron);
  } else {
    verdict.fail(node.place, "catalog.services.windows.start: " + cron.error().message);
  }
  return window;
}

void read_role_limits(const Node& node, model::RoleLimits& limits, Verdict& verdict) {
  Fields fields(node, "catalog.services.role_limits", verdict);
  fields.integer("decode_per_prefill_least_milli", limits.decode_per_prefill_least_milli, 0,
                 model::RoleLimits::kRatioMostMilli);
  fields.integer("decode_per_prefill_most_milli", limits.decode_per_prefill_most_milli, 0,
                 model::RoleLimits::kRatioMostMilli);
  std::int64_t conversion_ns = 0;
  fields.integer("conversion_ns", conversion_ns, 0, Duration(model::RoleLimits::kConversionMost).count());
  limits.conversion = Duration{conversion_ns};
  fields.finish();
}

void read_services(Fields& from, model::Catalog& catalog, Verdict& verdict) {
  for (const Node& item : from.list("services")) {
    Fields fields(item, "catalog.services", verdict);
    model::Service service;
    fields.text("name", service.name);
    fields.check("slo", [&](const Node& node, Verdict& v) {
      Fields slo(node, "catalog.services.slo", v);
      read_duration_ns(slo, "ttft_ns", service.slo.ttft);
      read_duration_ns(slo, "tpot_ns", service.slo.tpot);
      read_duration_ns(slo, "e2e_ns", service.slo.e2e);
      slo.integer("attainment_ppm", service.slo.attainment_ppm, 0, 1'000'000);
      slo.integer("ttft_prefills_milli", service.slo.ttft_prefills_milli, 0, 1'000'000);
      slo.finish();
    });
    fields.integer("max_replicas", service.max_replicas, 0, kMaxReplicas);
    fields.integer("min_replicas", service.min_replicas, 0, service.max_replicas);
    for (const Node& each : fields.list("windows")) service.windows.push_back(read_window(each, verdict));
    if (service.windows.size() > model::BoundsWindow::kMost) {
      verdict.fail(item.place, "catalog.services.windows: found " + std::to_string(service.windows.size()) +
                                   ", expected at most " + std::to_string(model::BoundsWindow::kMost));
    }
    if (item.find("survives") != nullptr) read_word(fields, verdict, "survives", service.survives.emplace());
    read_id(fields, verdict, "fed_by", service.fed_by);
    fields.check("role_limits", [&](const Node& node, Verdict& v) { read_role_limits(node, service.role_limits, v); });
    read_refs(fields, verdict, "beside", service.beside, [](model::ServiceId) { return true; });
    const auto variants = fields.list("variants");
    if (variants.empty()) verdict.fail(item.place, "catalog.services: no variants, expected at least one");
    for (const Node& each : variants) service.variants.push_back(read_variant(each, catalog, verdict));
    fields.finish();
    catalog.services.push_back(std::move(service));
  }
  check_feeding(from, catalog, verdict);
  check_beside(from, catalog, verdict);
}

void read_gpu_kinds(Fields& from, model::Catalog& catalog, Verdict& verdict) {
  for (const Node& kind : from.list("gpu_kinds")) {
    if (kind.kind != Node::Kind::scalar) {
      verdict.fail(kind.place, "catalog.gpu_kinds: " + kind.words() + ", expected a name");
    }
    catalog.gpu_kinds.push_back(kind.text);
  }
}

template <typename Number>
void read_limit(Fields& fields, std::string_view key, std::optional<Number>& out) {
  if (fields.take(key) == nullptr) return;
  std::int64_t value = 0;
  fields.integer(key, value, 0, 1'000'000'000'000);
  out = Number{value};
}

void read_limits(const Node& node, model::FleetLimits& out, Verdict& verdict) {
  Fields fields(node, "catalog.limits", verdict);
  read_limit(fields, "gpus", out.gpus);
  read_limit(fields, "nodes", out.nodes);
  read_limit(fields, "micro_usd_per_hour", out.price_per_hour);
  fields.finish();
}

}  // namespace

model::Catalog read_catalog(const Node& node, Verdict& verdict) {
  model::Catalog catalog;
  Fields fields(node, "catalog", verdict);
  read_gpu_kinds(fields, catalog, verdict);
  read_domains(fields, catalog, verdict);
  read_offerings(fields, catalog, verdict);
  read_pools(fields, catalog, verdict);
  read_queues(fields, catalog, verdict);
  read_services(fields, catalog, verdict);
  if (const Node* limits = fields.take("limits")) read_limits(*limits, catalog.limits, verdict);
  if (fields.take("launches_into") != nullptr) read_word(fields, verdict, "launches_into", catalog.launches_into);
  fields.finish();
  return catalog;
}

}  // namespace capstan::archive
