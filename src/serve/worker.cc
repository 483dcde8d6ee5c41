#include "serve/worker.h"

#include <utility>

namespace capstan::serve {

Worker::Worker() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

Worker::~Worker() {
  thread_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    running_stop_.request_stop();
  }
  thread_.join();
}

Worker::JobId Worker::start(Job job) {
  const std::lock_guard lock(mutex_);
  running_stop_.request_stop();
  if (next_) add_finished({next_->id, true, {}});
  next_ = WaitingJob{++last_id_, std::move(job), {}};
  changed_.notify_all();
  return last_id_;
}

void Worker::cancel(JobId id) {
  const std::lock_guard lock(mutex_);
  if (running_ == id) running_stop_.request_stop();
  if (!next_ || next_->id != id) return;
  next_.reset();
  add_finished({id, true, {}});
}

std::vector<Worker::FinishedJob> Worker::take_finished() {
  const std::lock_guard lock(mutex_);
  wake_.clear();
  return std::exchange(finished_, {});
}

void Worker::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return next_.has_value(); })) {
    const WaitingJob now = *std::exchange(next_, std::nullopt);
    running_ = now.id;
    running_stop_ = now.stop;
    if (stop.stop_requested()) now.stop.request_stop();  // the destructor cannot stop a job that has not begun
    lock.unlock();
    Result<std::string> result = now.job(now.stop.get_token());
    lock.lock();
    add_finished({now.id, now.stop.stop_requested(), std::move(result)});
    running_ = 0;
    running_stop_ = std::stop_source(std::nostopstate);
    if (stop.stop_requested()) return;
  }
}

void Worker::add_finished(FinishedJob done) {
  finished_.push_back(std::move(done));
  wake_.set();
}

}  // namespace capstan::serve
