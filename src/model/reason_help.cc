#include "model/reason_help.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace capstan::model {
namespace {

constexpr ReasonHelp kHelp[] = {
#define CAPSTAN_REASON_HELP(code, ...) {ReasonCode::code, __VA_ARGS__},
#include "model/reason_help.inc"
#undef CAPSTAN_REASON_HELP
};

constexpr ReasonCode kCodes[] = {
#define CAPSTAN_REASON(code, sentence) ReasonCode::code,
#include "model/reasons.inc"
#undef CAPSTAN_REASON
};

constexpr bool has_one_row_for_each_code() {
  if (std::size(kHelp) != std::size(kCodes)) return false;
  for (std::size_t i = 0; i < std::size(kCodes); ++i) {
    if (kHelp[i].code != kCodes[i]) return false;
  }
  return true;
}
static_assert(has_one_row_for_each_code(), "reason_help.inc must have the codes of reasons.inc in the same order");

/// Returns "queue_limit" for "QueueLimit".
std::string snake_case(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper && !out.empty()) out += '_';
    out += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

Catalog make_example_catalog() {
  Catalog catalog;
  catalog.gpu_kinds = {"H100"};
  catalog.domains = {{"cluster", TopologyLevel::cluster, {}},
                     {"zone-a", TopologyLevel::zone, DomainId{0}},
                     {"zone-b", TopologyLevel::zone, DomainId{0}},
                     {"rack-1", TopologyLevel::rack, DomainId{1}},
                     {"rack-2", TopologyLevel::rack, DomainId{1}}};
  catalog.offerings.push_back(
      {.instance_type = "p5.48xlarge", .gpu = GpuKindId{0}, .gpus = 8, .zone = DomainId{1}, .price_per_hour = {}});
  catalog.pools.push_back({.name = "h100", .offerings = {OfferingId{0}}, .limits = {.gpus = 64}});
  catalog.extended_resources = {"rdma/hca"};
  catalog.queues.push_back({.name = "research", .parent = {}, .gpus = {.limit = whole_gpus(16)}});
  catalog.queues.push_back({.name = "all-teams"});
  return catalog;
}

}  // namespace

const ReasonHelp& help(ReasonCode code) { return kHelp[static_cast<std::size_t>(code)]; }

std::vector<std::string_view> number_meanings(const ReasonHelp& row) {
  std::vector<std::string_view> meanings;
  for (std::string_view rest = row.numbers; !rest.empty();) {
    const std::size_t end = std::min(rest.find("; "), rest.size());
    meanings.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 2));
  }
  return meanings;
}

std::optional<ReasonCode> find_reason(std::string_view name_of_code) {
  const std::string wanted = snake_case(name_of_code);
  for (const ReasonCode code : kCodes) {
    if (name(code) == wanted) return code;
  }
  return std::nullopt;
}

const Catalog& example_catalog() {
  static const Catalog catalog = make_example_catalog();
  return catalog;
}

}  // namespace capstan::model
