#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "workload/byte_stream.h"
#include "workload/lengths.h"
#include "workload/source.h"
#include "workload/time_sorter.h"

namespace capstan::workload {

/// Aggregate statistics of a trace, as scripts/make-profile writes them. docs/guides/workloads.md describes the format.
struct Profile {
  std::string source;                          ///< origin of the data, with its licence
  Duration duration{};                         ///< span of the trace; the last minute is usually incomplete
  std::vector<std::int64_t> minutes;           ///< requests of each minute
  std::shared_ptr<const LengthTable> lengths;  ///< not null in a profile that was read
};

Result<Profile> read_profile(std::unique_ptr<ByteStream> bytes);

/// Reads a bundled profile by its name; if there is none of that name, a file by its path. A text that already is a
/// profile is read directly.
Result<Profile> find_profile(const std::string& name_or_path);

struct BundledProfile {
  std::string_view name;
  std::string_view text;
};
std::span<const BundledProfile> bundled_profiles();

/// Generates the requests of a profile, whose counts are multiplied by `scale_ppm` / 1e6. Each minute gets exactly its
/// count (fractions are carried to the next minute) at independent uniform times. Given its count, that is a Poisson
/// process within the minute.
class ProfileSource final : public Source {
 public:
  ProfileSource(Profile profile, std::int64_t scale_ppm, std::uint64_t seed);

  bool next(Request& request) override;
  std::size_t fill(std::span<Request> out) override;
  double progress() const override;

 private:
  bool next_slice();
  bool next_minute();

  Profile profile_;
  std::int64_t scale_ppm_;
  RandomStream arrivals_;
  RandomStream lengths_;
  LengthSampler deck_;

  std::size_t minute_ = 0;             ///< next minute to be divided into slices
  std::int64_t counted_ = 0;           ///< requests of the profile in the earlier minutes
  std::vector<std::uint32_t> slices_;  ///< requests in each slice of this minute
  std::size_t slice_ = 0;              ///< next slice to be drawn
  std::int64_t minute_start_ns_ = 0;
  std::int64_t minute_length_ns_ = 0;
  TimeSorter<std::int64_t> sorter_;
  std::vector<std::int64_t> arrival_times_ns_;  ///< arrivals of this slice, in order
  std::size_t next_arrival_ = 0;                ///< index of the next arrival to be returned
};

}  // namespace capstan::workload
