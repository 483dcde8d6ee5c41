#pragma once

#include <string>

#include "manifest/document.h"

namespace capstan::manifest::testing {

inline std::string place(const Span& span) { return std::to_string(span.begin) + "-" + std::to_string(span.end); }

inline std::string described(const Value& value) {
  return "form " + std::to_string(static_cast<int>(value.form)) + " style " +
         std::to_string(static_cast<int>(value.style)) + " key " + std::string(value.key) + " at " +
         place(value.key_span) + " at " + place(value.span) + " text [" + std::string(value.text) + "] of " +
         std::to_string(value.count);
}

/// Returns the first difference between two trees, or "" if they are equal.
inline std::string difference(const Value& a, const Value& b) {
  if (described(a) != described(b) || a.shared != b.shared) return described(a) + " is not " + described(b);
  for (std::size_t i = 0; i < a.count; ++i) {
    if (std::string found = difference(a.first[i], b.first[i]); !found.empty()) return found;
  }
  return "";
}

inline std::string difference(const Documents& a, const Documents& b) {
  if (a.all().size() != b.all().size()) return "the numbers of documents differ";
  for (std::size_t i = 0; i < a.all().size(); ++i) {
    const Document &one = a.all()[i], &other = b.all()[i];
    if (one.faults.size() != other.faults.size()) return "the numbers of faults differ";
    for (std::size_t j = 0; j < one.faults.size(); ++j) {
      if (one.faults[j].message != other.faults[j].message || one.faults[j].span != other.faults[j].span) {
        return one.faults[j].message + " is not " + other.faults[j].message;
      }
    }
    if (std::string found = difference(one.root, other.root); !found.empty()) return found;
  }
  return "";
}

}  // namespace capstan::manifest::testing
