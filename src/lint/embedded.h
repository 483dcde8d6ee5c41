#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "lint/object.h"

namespace capstan::lint {

/// YAML inside a scalar, such as a file in a ConfigMap. Its values have places in the surrounding file, so that
/// findings and fixes point there. If the places cannot be computed, as in a folded text, all values get the place of
/// the scalar and are marked as shared, so that no fix edits them.
class Embedded {
 public:
  Embedded(const File& file, const Value& scalar);

  const Value& root() const { return root_; }
  const Value& scalar() const { return *scalar_; }

 private:
  /// The start of a line in the embedded YAML (`begin`) and in the surrounding file (`place`), as byte offsets.
  struct Line {
    std::uint32_t begin = 0;
    std::uint32_t place = 0;
  };

  void find_lines(const File& file);
  Span placed(Span span) const;
  Value placed(const Value& value);

  const Value* scalar_;
  manifest::Documents documents_;
  std::vector<Line> lines_;  ///< lines in order; empty if their places are unknown
  std::deque<std::vector<Value>> values_;
  Value root_;
};

/// Returns the YAML files below a mapping, such as a ConfigMap's `data`, that contain a word.
std::vector<Embedded> embedded_with(const File& file, const Value& data, std::string_view word);

}  // namespace capstan::lint
