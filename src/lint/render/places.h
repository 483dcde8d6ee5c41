#pragma once

#include "lint/rule.h"

namespace capstan::lint {

/// The begin and the end of a finding. The end is the place after its last character.
struct Places {
  manifest::LineTable::Position begin;
  manifest::LineTable::Position end;
};

inline Places places_of(const Finding& finding) {
  return {finding.file->lines().at(finding.span.begin), finding.file->lines().at(finding.span.end)};
}

}  // namespace capstan::lint
