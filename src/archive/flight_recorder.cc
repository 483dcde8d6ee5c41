#include "archive/flight_recorder.h"

#include <fmt/format.h>

#include <utility>

#include "archive/recording_file.h"

namespace capstan::archive {

Result<FlightRecorder> FlightRecorder::open(std::string path, Instant now, Log log, const RecordingLimits& limits) {
  if (examine(path).content == FileContent::foreign) {
    return std::unexpected(Error::about(path, "the file exists and is not a recording, expected a new name"));
  }
  FlightRecorder flight(std::move(path), std::move(log), limits);
  if (const Result<void> opened = flight.open_file(); !opened) flight.note_fault(opened.error(), now);
  return flight;
}

Result<void> FlightRecorder::open_file() {
  Result<ContinuedRecorder> opened = Recorder::append_or_set_aside(path_, limits_);
  if (!opened) return std::unexpected(opened.error());
  if (!opened->set_aside.empty()) log_set_aside(opened->fault, opened->set_aside);
  recorder_ = std::move(opened->recorder);
  return {};
}

void FlightRecorder::add(const SavedState& state, Instant now) {
  if (!recorder_ && now >= next_try_) {
    if (const Result<void> opened = open_file(); !opened) note_fault(opened.error(), now);
  }
  if (!recorder_) {
    ++lost_;
    return;
  }
  Result<void> added = recorder_->add(state);
  if (!added && recorder_->is_damaged()) {
    // A file that is damaged inside can still be opened, so only a new file helps.
    recorder_.reset();
    const Result<std::string> moved = set_aside(path_);
    if (moved) {
      log_set_aside(added.error().text(), *moved);
      added = open_file();
      if (added) added = recorder_->add(state);
    }
  }
  if (!added) {
    ++lost_;
    note_fault(added.error(), now);
    return;
  }
  ++written_;
  if (!std::exchange(logged_, {}).empty()) log_(false, "records again in " + path_);
}

void FlightRecorder::add_outcome(const control::ActionOutcome& outcome) {
  if (recorder_) static_cast<void>(recorder_->add_outcome(outcome));
}

void FlightRecorder::finish() {
  if (!recorder_) return;
  const Result<void> written = recorder_->finish();
  recorder_.reset();
  if (!written) log_(true, "the recording was not closed in order: " + written.error().text());
}

void FlightRecorder::log_set_aside(const std::string& fault, const std::string& name) const {
  log_(true, fmt::format("{}; moves this file to {} and begins a new recording", fault, name));
}

void FlightRecorder::note_fault(const Error& error, Instant now) {
  recorder_.reset();
  next_try_ = now + kRetryPeriod;
  std::string text = error.text();
  if (text == logged_) return;
  log_(true,
       fmt::format("cannot record, and tries again every {} s: {}", kRetryPeriod / std::chrono::seconds(1), text));
  logged_ = std::move(text);
}

}  // namespace capstan::archive
