#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/catalog.h"
#include "model/reason.h"

// The sentences of model/reasons.inc are templates:
//
//   {0}                     the number at position 0 of the reason
//   {0:request|requests}    the word that agrees with that number: the first one for 1, else the second one
//   {0:seconds}             the number as people read it; the word is the unit in which the number is stored
//   {0:more_than}           "more than 8", or "any" for 0, after a negation: "may not buy any"
//   {2:price/4}             a price per hour in `micro_usd`; if the number at position 4 is not 0, the number at
//                           position 2 is instead a number of GPUs in `milli_gpus`
//   {2:amount/1}            an amount of the resource whose number is at position 1: "96 CPUs", "512 GiB"
//   {3@queue}               the object whose id the number is; {3@level} is a topology level, and {3@resource} a
//                           resource by its number (model/resource_number.h), {0@rule} a field of a pod by the
//                           number of its rule (model/pod_rule.h), {4@neighbor} the running pod that keeps the pods
//                           of a class away (PodClass::kept_apart_by)
//   [, {3@domain},]         optional part: left out if an object in it has an invalid id, or is an offering or a GPU
//                           kind without a name, because the id alone would mean nothing to a reader
namespace capstan::model {

/// Units in which reasons store numbers, each with an example of the text that people read.
inline constexpr std::array<std::string_view, 9> kReasonUnits{
    "milli",           ///< thousandths: "3.4"
    "milli_replicas",  ///< thousandths: "3.4 replicas"
    "milli_gpus",      ///< thousandths: "0.25 GPUs"
    "per_mille",       ///< "108 %"
    "mib",             ///< "1.5 GiB"
    "micro_usd",       ///< "2.40 USD"
    "seconds",         ///< "2 min 9 s"
    "milliseconds",    ///< "1.25 s"
    "http_status",     ///< "403 (forbidden)"
};

/// Kinds of objects that a template can name, as in {3@queue}. The reason stores the object's id, or the level itself.
inline constexpr std::array<std::string_view, 9> kReasonObjects{"queue", "pool",     "domain", "offering", "gpu",
                                                                "level", "resource", "rule",   "neighbor"};

/// The object that a reason is about. If its template names several objects, it is the one whose kind comes first in
/// `kReasonObjects`.
struct ReasonSubject {
  std::string_view kind;  ///< "queue", "pool", "domain", "offering" or "gpu"
  std::string name;
  friend bool operator==(const ReasonSubject&, const ReasonSubject&) = default;
};

/// Returns true if every field in braces and every optional part of a template has one of the forms above.
constexpr bool is_template(std::string_view text);

/// Returns the template with the numbers filled in. Without a catalog an object is named by its id: "queue 3".
std::string fill_template(std::string_view text, const ReasonNumbers& numbers, const Catalog* catalog);

/// Returns the subject of a reason with this template; none if the template names no object of the catalog.
std::optional<ReasonSubject> template_subject(std::string_view text, const ReasonNumbers& numbers,
                                              const Catalog& catalog);

namespace reason_template {

constexpr bool is_position(std::string_view text) {
  return text.size() == 1 && text[0] >= '0' && text[0] < static_cast<char>('0' + kReasonNumbers);
}

template <std::size_t n>
constexpr bool is_listed(const std::array<std::string_view, n>& list, std::string_view word) {
  for (const std::string_view listed : list) {
    if (listed == word) return true;
  }
  return false;
}

/// Returns true if the text between two braces is a valid field.
constexpr bool is_field(std::string_view field) {
  if (!is_position(field.substr(0, 1))) return false;
  if (field.size() == 1) return true;
  const std::string_view form = field.substr(2);
  if (field[1] == '@') return is_listed(kReasonObjects, form);
  if (field[1] != ':') return false;
  if (form == "more_than") return true;
  for (const std::string_view start : {std::string_view("price/"), std::string_view("amount/")}) {
    if (form.substr(0, start.size()) == start) return is_position(form.substr(start.size()));
  }
  return form.find('|') != form.npos || is_listed(kReasonUnits, form);
}

}  // namespace reason_template

constexpr bool is_template(std::string_view text) {
  bool optional = false;
  bool has_object = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '}') return false;
    if (c == '[') {
      if (optional) return false;
      optional = true;
      has_object = false;
    } else if (c == ']') {
      if (!optional || !has_object) return false;
      optional = false;
    } else if (c == '{') {
      const std::size_t close = text.find('}', at);
      if (close == text.npos || close == at + 1) return false;
      const std::string_view field = text.substr(at + 1, close - at - 1);
      if (!reason_template::is_field(field)) return false;
      has_object = has_object || (field.size() > 1 && field[1] == '@');
      at = close;
    }
  }
  return !optional;
}

}  // namespace capstan::model
