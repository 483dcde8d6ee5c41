#include "archive/follower.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

namespace capstan::archive {

Follower::Identity Follower::identity(const std::string& path) {
  struct statx found{};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &found) != 0) return {};
  const std::uint64_t device = (std::uint64_t{found.stx_dev_major} << 32) | found.stx_dev_minor;
  return {device, found.stx_ino, found.stx_btime.tv_sec * 1'000'000'000 + found.stx_btime.tv_nsec};
}

Follower::Follower(std::string path, Recording::Place place) : path_(std::move(path)), place_(std::move(place)) {
  if (place_.number >= 0) identity_ = identity(path_);
}

Result<void> Follower::read(const Callbacks& calls, bool only_newest) {
  const Identity now = identity(path_);
  Result<Recording> recording = Recording::open(path_);
  if (!recording) return std::unexpected(recording.error());
  bool is_same = !identity_ || *identity_ == now;
  if (is_same) {
    const Result<bool> goes_on = recording->continue_from(place_);
    if (!goes_on) return std::unexpected(goes_on.error());
    is_same = *goes_on;
  }
  identity_ = now;
  if (!is_same) {
    place_ = {};
    if (calls.on_replaced) calls.on_replaced();
  }
  if (calls.on_outcomes) {
    const Result<std::vector<RecordedOutcome>> outcomes = recording->new_outcomes();
    if (!outcomes) return std::unexpected(outcomes.error());
    if (!outcomes->empty()) calls.on_outcomes(*outcomes);
    place_ = recording->place();
  }
  while (true) {
    const Result<std::optional<SavedState>> state = only_newest ? recording->newest() : recording->next();
    if (!state) return std::unexpected(state.error());
    if (!*state) return {};
    calls.on_state(**state);
    place_ = recording->place();
  }
}

}  // namespace capstan::archive
