#pragma once

#include <string_view>
#include <vector>

#include "lint/object.h"

namespace capstan::lint {

/// YAML inside a scalar: a file that a ConfigMap carries.
class Embedded {
 public:
  Embedded(const File& file, const Value& scalar);

  const Value& root() const;
  /// A value of it, in the bytes of the file.
  Span span_of(const Value& inner) const;
  Span key_span_of(const Value& inner) const;
  const Value& scalar() const { return *scalar_; }

 private:
  const File* file_;
  const Value* scalar_;
  manifest::Documents documents_;
};

/// The YAML files below a mapping such as a ConfigMap's `data` that hold a word.
std::vector<Embedded> embedded_with(const File& file, const Value& data, std::string_view word);

}  // namespace capstan::lint
