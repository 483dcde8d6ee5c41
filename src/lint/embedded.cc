#include "lint/embedded.h"

namespace capstan::lint {

Embedded::Embedded(const File& file, const Value& scalar)
    : file_(&file), scalar_(&scalar), documents_(manifest::Documents::parse(scalar.text)) {}

const Value& Embedded::root() const {
  return documents_.all().empty() ? Value::missing() : documents_.all().front().root;
}

Span Embedded::span_of(const Value& inner) const {
  const bool one_line = inner.form == manifest::Form::scalar && inner.span.size() > 0;
  const Span span = one_line || inner.key_span.size() == 0 ? inner.span : inner.key_span;
  return part_of(*file_, *scalar_, span.begin, span.size());
}

Span Embedded::key_span_of(const Value& inner) const {
  return part_of(*file_, *scalar_, inner.key_span.begin, inner.key_span.size());
}

std::vector<Embedded> embedded_with(const File& file, const Value& data, std::string_view word) {
  std::vector<Embedded> out;
  for (const Value& entry : data.children()) {
    if (entry.is_scalar() && entry.text.find(word) != entry.text.npos) out.emplace_back(file, entry);
  }
  return out;
}

}  // namespace capstan::lint
