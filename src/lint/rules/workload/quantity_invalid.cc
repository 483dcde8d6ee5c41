#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lint/pods.h"
#include "lint/rule.h"
#include "manifest/quantity.h"

namespace capstan::lint {
namespace quantity_invalid {
namespace {

/// Returns true for a text with a digit and without signs of a template. A word that a person fills in, such as
/// "MEMORY", has no digit.
bool is_meant_as_amount(std::string_view text) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return !is_template_variable(text) && std::ranges::any_of(text, is_digit);
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const Value* amount : resource_amounts(*container)) {
        if (!amount->is_scalar() || !is_meant_as_amount(amount->text) || manifest::read_quantity_milli(amount->text))
          continue;
        s.report(*amount, fmt::format("\"{}\" is not a quantity, expected one like 4, 500m or 16Gi, so the API server "
                                      "refuses the object",
                                      amount->text));
      }
    }
  }
}

}  // namespace
}  // namespace quantity_invalid

extern const Rule rule_quantity_invalid;
const Rule rule_quantity_invalid = {
    .id = "quantity-invalid",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "the amount of a resource is not a quantity",
    .why = "The API server refuses the object, or the pods that its controller makes from it.",
    .fix = "write a number with an optional unit: 4, 500m, 16Gi",
    .source = "Kubernetes documentation, Quantity",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {memory: 16GB}}}]}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: "a:1", resources: {limits: {memory: 16Gi}}}]}
)",
    .check = quantity_invalid::check,
};

}  // namespace capstan::lint
