#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

// Moments of recordings for people. A simulation counts from its start. A controller counts from 1970, so its moments
// are dates and times in UTC.
namespace capstan::experiment {

/// Returns true if a moment counts from 1970. A moment of ten years or more is assumed to, because simulations are
/// shorter.
bool is_wall_time(Instant at);
/// Returns "00:17:20" for a moment of a simulation, and "2026-11-26 02:14:05 UTC" for one of a controller.
std::string moment_words(Instant at);
/// Returns a moment as `--at` takes it: "960s" or "2026-11-26T02:14:05.250Z". Fractions of a millisecond are cut.
std::string moment_argument(Instant at);

/// Reads a moment of a recording: a duration since its start ("33m"), a time ("02:14" or "02:14:05"), or for a
/// controller a date and time in UTC ("2026-11-26T02:14:05Z"). A time without a date means its first occurrence in the
/// recording.
/// @param first  moment of the first state
Result<Instant> read_recorded_moment(std::string_view text, Instant first);

}  // namespace capstan::experiment
