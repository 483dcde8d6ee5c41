#pragma once

#include <cstddef>

#include "manifest/document.h"

namespace capstan::lint {

/// The differences between the labels that a selector wants and the labels of a pod.
struct LabelDifference {
  std::size_t equal = 0;                   ///< labels of the selector that the pod has
  std::size_t misspelt = 0;                ///< labels that the pod has with another spelling of the value
  std::size_t other = 0;                   ///< labels that the pod has with another value
  std::size_t absent = 0;                  ///< labels that the pod lacks
  const manifest::Value* first = nullptr;  ///< first label of the selector that the pod does not have so; null if none

  std::size_t wanted() const { return equal + misspelt + other + absent; }
  /// Returns true if the selector would match the pod without the misspellings.
  bool is_only_misspelt() const { return misspelt > 0 && other + absent == 0; }
};

/// Compares `match_labels` with the labels of a pod. A value that is filled in later, such as ${NAME}, equals any
/// value.
LabelDifference compare_labels(const manifest::Value& match_labels, const manifest::Value& labels);

}  // namespace capstan::lint
