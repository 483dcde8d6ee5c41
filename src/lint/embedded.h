#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "lint/object.h"

namespace capstan::lint {

/// YAML inside a scalar: a file that a ConfigMap carries. Its values know where they stand in the file around it, and
/// findings and fixes point there. Where that cannot be told, as in a folded text, they all stand where the scalar does
/// and count as written elsewhere.
class Embedded {
 public:
  Embedded(const File& file, const Value& scalar);

  const Value& root() const { return root_; }
  const Value& scalar() const { return *scalar_; }

 private:
  /// A line of the text that holds the YAML, and where it stands in the file around it.
  struct Line {
    std::uint32_t begin = 0;
    std::uint32_t place = 0;
  };

  void find_lines(const File& file);
  Span placed(Span span) const;
  Value placed(const Value& value);

  const Value* scalar_;
  manifest::Documents documents_;
  std::vector<Line> lines_;  ///< empty where the places are not known
  std::deque<std::vector<Value>> values_;
  Value root_;
};

/// The YAML files below a mapping such as a ConfigMap's `data` that hold a word.
std::vector<Embedded> embedded_with(const File& file, const Value& data, std::string_view word);

}  // namespace capstan::lint
