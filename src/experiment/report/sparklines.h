#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "experiment/compare.h"

namespace capstan::experiment {

/// Returns charts over time for terminals with UTF-8: the arrivals once, then the ready replicas and the missed
/// requests of each policy in the table. Lines of one kind have one scale, so that policies can be compared. Ends with
/// a newline.
/// @param name_width  width of the policies' names, as in the table
std::string sparklines(const Comparison& comparison, std::size_t name_width, std::size_t width);

/// Returns `columns_each` equal glyphs for each number, from a low bar to a full one; blanks for 0.
std::string spark_bars(std::span<const std::int64_t> numbers, std::int64_t most, std::size_t columns_each = 1);

}  // namespace capstan::experiment
