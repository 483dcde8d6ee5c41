#include "model/reason_template.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/assert.h"
#include "base/number_text.h"
#include "model/pod_rule.h"
#include "model/resource_number.h"
#include "model/topology_names.h"

namespace capstan::model {
namespace {

std::string with_noun(const std::string& number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == "1" ? "" : "s");
}

std::string_view status_words(std::int64_t status) {
  switch (status) {
    case 400:
      return "bad request";
    case 401:
      return "not authenticated";
    case 403:
      return "forbidden";
    case 404:
      return "not found";
    case 409:
      return "conflict";
    case 413:
      return "too large";
    case 422:
      return "invalid object";
    case 429:
      return "too many requests";
    case 500:
      return "internal error";
    case 502:
      return "bad gateway";
    case 503:
      return "service unavailable";
    case 504:
      return "timeout";
    default:
      return {};
  }
}

std::string status_text(std::int64_t status) {
  const std::string_view words = status_words(status);
  return words.empty() ? std::to_string(status) : fmt::format("{} ({})", status, words);
}

std::string in_unit(std::string_view unit, std::int64_t number) {
  if (unit == "milli") return decimal_text(number);
  if (unit == "milli_replicas") return with_noun(decimal_text(number), "replica");
  if (unit == "milli_gpus") return with_noun(decimal_text(number), "GPU");
  if (unit == "per_mille") return percent_text(number * 1000);
  if (unit == "mib") return decimal_text(number * 1000 / 1024) + " GiB";
  if (unit == "micro_usd") return usd_text({number});
  if (unit == "seconds") return time_text(std::chrono::seconds(number));
  if (unit == "milliseconds") return time_text(std::chrono::milliseconds(number));
  CAPSTAN_ASSERT(unit == "http_status");
  return status_text(number);
}

/// Returns the name of row `id` of a catalog's table, or null if there is no such row.
template <typename Rows, typename Field>
const std::string* name_in(const Rows& rows, std::int64_t id, Field field) {
  return id >= 0 && id < std::ssize(rows) ? &(rows[static_cast<std::size_t>(id)].*field) : nullptr;
}

/// Returns the catalog's name of a queue, pool, offering, domain or GPU kind; null for other kinds, and if there is no
/// such object.
const std::string* object_name(std::string_view kind, std::int64_t id, const Catalog& catalog) {
  if (kind == "queue") return name_in(catalog.queues, id, &Queue::name);
  if (kind == "pool") return name_in(catalog.pools, id, &Pool::name);
  if (kind == "offering") return name_in(catalog.offerings, id, &Offering::instance_type);
  if (kind == "domain") return name_in(catalog.domains, id, &Domain::name);
  if (kind != "gpu" || id < 0 || id >= std::ssize(catalog.gpu_kinds)) return nullptr;
  return &catalog.gpu_kinds[static_cast<std::size_t>(id)];
}

/// Returns the words for a level; nothing for a number that is no level.
std::optional<std::string> level_text(std::int64_t number, const Catalog* catalog) {
  if (number < 0 || number >= static_cast<std::int64_t>(Level::kMax)) return std::nullopt;
  const Level level(static_cast<std::uint8_t>(number));
  if (level.is_standard()) return std::string(kLevelNames[level.number()].words);
  if (catalog == nullptr || !position_of(catalog->topologies, level)) return std::nullopt;
  return std::string(catalog->level_words(level));
}

/// Returns the name of a resource; nothing for a number that is no resource of the catalog.
std::optional<std::string> resource_text(std::int64_t number, const Catalog* catalog) {
  if (number < 0) return std::nullopt;
  const auto at = static_cast<std::size_t>(number);
  if (at < kStandardResources.size()) return std::string(kStandardResources[at]);
  const std::size_t i = at - kStandardResources.size();
  if (catalog == nullptr) return fmt::format("extended resource {}", i);
  return i < catalog->extended_resources.size() ? std::optional(catalog->extended_resources[i]) : std::nullopt;
}

/// Returns the field of a pod that states a rule; nothing for a number that is no rule.
std::optional<std::string> rule_text(std::int64_t number) {
  if (number <= 0 || number >= std::ssize(kPodRuleNames)) return std::nullopt;
  return std::string(kPodRuleNames[static_cast<std::size_t>(number)].field);
}

/// Returns the running pod that keeps the pods of a class away; nothing if there is none.
std::optional<std::string> neighbor_text(std::int64_t id, const Catalog* catalog) {
  if (catalog == nullptr || id < 0 || id >= std::ssize(catalog->eligibility.pod_classes)) return std::nullopt;
  const std::string& pod = catalog->eligibility.pod_classes[static_cast<std::size_t>(id)].kept_apart_by;
  return pod.empty() ? std::nullopt : std::optional(pod);
}

/// Returns an amount of a resource in words.
std::string amount_text(std::int64_t resource, std::int64_t amount) {
  switch (resource) {
    case 0:
      return with_noun(decimal_text(amount), "CPU");
    case 1:
    case 2:
      return in_unit("mib", amount);
    default:
      return std::to_string(amount);
  }
}

/// Returns the words for an object: `queue "research"`, or "queue 3" if the catalog has no name for it. Returns nothing
/// for an invalid id, and for an offering or GPU kind without a name, because their ids mean nothing to a reader.
std::optional<std::string> object_text(std::string_view kind, std::int64_t id, const Catalog* catalog) {
  if (kind == "level") return level_text(id, catalog);
  if (kind == "resource") return resource_text(id, catalog);
  if (kind == "rule") return rule_text(id);
  if (kind == "neighbor") return neighbor_text(id, catalog);
  if (id < 0) return std::nullopt;
  const std::string* name = catalog == nullptr ? nullptr : object_name(kind, id, *catalog);
  std::string_view noun = kind;
  if (kind == "domain" && name != nullptr) {
    noun = catalog->level_words(catalog->domains[static_cast<std::size_t>(id)].level);
  }
  if (kind == "gpu" || kind == "offering") return name == nullptr ? std::nullopt : std::optional(*name);
  return name == nullptr ? fmt::format("{} {}", noun, id) : fmt::format("{} \"{}\"", noun, *name);
}

struct Filling {
  const ReasonNumbers& numbers;
  const Catalog* catalog;

  std::int64_t number_at(char position) const { return numbers[static_cast<std::size_t>(position - '0')]; }

  /// Returns the text for a field in braces, or nothing if `object_text` has no words for the field's object.
  std::optional<std::string> text(std::string_view field) const {
    const std::int64_t number = number_at(field[0]);
    if (field.size() == 1) return std::to_string(number);
    const std::string_view form = field.substr(2);
    if (field[1] == '@') return object_text(form, number, catalog);
    if (form == "more_than") return number == 0 ? "any" : fmt::format("more than {}", number);
    if (form.starts_with("price/")) {
      return number_at(form.back()) != 0 ? in_unit("milli_gpus", number) : usd_text({number}) + "/h";
    }
    if (form.starts_with("amount/")) return amount_text(number_at(form.back()), number);
    const std::size_t bar = form.find('|');
    if (bar != form.npos) return std::string(number == 1 ? form.substr(0, bar) : form.substr(bar + 1));
    return in_unit(form, number);
  }
};

}  // namespace

std::optional<ReasonSubject> template_subject(std::string_view text, const ReasonNumbers& numbers,
                                              const Catalog& catalog) {
  for (const std::string_view kind : kReasonObjects) {
    const std::size_t at = text.find(std::string("@") + std::string(kind) + "}");
    if (at == text.npos) continue;
    const std::string* name = object_name(kind, numbers[static_cast<std::size_t>(text[at - 1] - '0')], catalog);
    if (name != nullptr) return ReasonSubject{kind, *name};
  }
  return std::nullopt;
}

std::string fill_template(std::string_view text, const ReasonNumbers& numbers, const Catalog* catalog) {
  CAPSTAN_ASSERT(is_template(text));
  const Filling filling{numbers, catalog};
  std::string out;
  std::size_t optional_from = 0;
  bool has_all_names = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '[':
        optional_from = out.size();
        has_all_names = true;
        break;
      case ']':
        if (!has_all_names) out.resize(optional_from);
        break;
      case '{': {
        const std::size_t close = text.find('}', at);
        const std::optional<std::string> filled = filling.text(text.substr(at + 1, close - at - 1));
        has_all_names = has_all_names && filled.has_value();
        out += filled.value_or("none");
        at = close;
        break;
      }
      default:
        out += text[at];
    }
  }
  return out;
}

}  // namespace capstan::model
