#pragma once

#include "lint/rule.h"

namespace capstan::lint {

/// A finding's first and last place; the end is behind its last character.
struct Places {
  manifest::LineTable::Position begin;
  manifest::LineTable::Position end;
};

inline Places places_of(const Finding& finding) {
  return {finding.file->lines().at(finding.span.begin), finding.file->lines().at(finding.span.end)};
}

}  // namespace capstan::lint
