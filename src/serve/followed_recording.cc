#include "serve/followed_recording.h"

#include <utility>

namespace capstan::serve {

FollowedRecording::FollowedRecording(archive::Follower follower, ReadMode read_mode, Callbacks calls, Duration period)
    : follower_(std::move(follower)), read_mode_(read_mode), calls_(std::move(calls)), period_(period) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

FollowedRecording::~FollowedRecording() {
  thread_.request_stop();
  thread_.join();
}

void FollowedRecording::run(const std::stop_token& stop) {
  const archive::Follower::Callbacks calls{.on_state =
                                               [&](const archive::SavedState& state) {
                                                 if (!stop.stop_requested()) {
                                                   calls_.on_state(state, archive::redecide(state));
                                                 }
                                               },
                                           .on_replaced = calls_.on_replaced,
                                           .on_outcomes = calls_.on_outcomes};
  std::string fault;
  while (!stop.stop_requested()) {
    const Result<void> read =
        read_mode_ == ReadMode::newest_state ? follower_.read_newest(calls) : follower_.read(calls);
    std::string now = read ? std::string() : read.error().text();
    if (now != fault) calls_.on_fault(now);
    fault = std::move(now);
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, stop, period_, [] { return false; });
  }
}

}  // namespace capstan::serve
