#include "lint/selector.h"

#include "lint/misspelling.h"
#include "lint/set.h"

namespace capstan::lint {
namespace {

/// Returns the number in `difference` that counts this label of the selector.
std::size_t& count_of(LabelDifference& difference, const manifest::Value& wanted, const manifest::Value& label) {
  const bool is_variable = is_template_variable(wanted.text) || is_template_variable(label.text);
  if (is_variable || label.is(wanted.text)) return difference.equal;
  if (!label) return difference.absent;
  return is_misspelling(wanted.text, label.text) ? difference.misspelt : difference.other;
}

}  // namespace

LabelDifference compare_labels(const manifest::Value& match_labels, const manifest::Value& labels) {
  LabelDifference difference;
  for (const manifest::Value& wanted : match_labels.children()) {
    std::size_t& count = count_of(difference, wanted, labels[wanted.key]);
    ++count;
    if (difference.first == nullptr && &count != &difference.equal) difference.first = &wanted;
  }
  return difference;
}

}  // namespace capstan::lint
