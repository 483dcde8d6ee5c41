#pragma once

#include <string_view>
#include <vector>

#include "base/split.h"

namespace capstan::lint {

/// Returns the rows below the header of a table. A row whose number of cells differs from the header's is left out.
inline std::vector<std::vector<std::string_view>> fact_rows(std::string_view csv) {
  std::vector<std::vector<std::string_view>> rows;
  std::size_t columns = 0;
  for (const std::string_view line : split(csv, '\n')) {
    std::vector<std::string_view> row = split(line, ',');
    if (columns == 0) {
      columns = row.size();
    } else if (row.size() == columns) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace capstan::lint
