#include "serve/worker.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace capstan::serve {
namespace {

/// Runs until it is stopped; used as a job.
Result<std::string> run_until_stopped(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait(lock, stop, [] { return false; });
  return "stopped";
}

std::vector<Worker::FinishedJob> wait_for(Worker& worker, std::size_t count) {
  std::vector<Worker::FinishedJob> all;
  while (all.size() < count) {
    pollfd descriptor{worker.poll_fd(), POLLIN, 0};
    if (poll(&descriptor, 1, 30'000) != 1) return all;  // the test then fails
    for (Worker::FinishedJob& done : worker.take_finished()) all.push_back(std::move(done));
  }
  return all;
}

TEST(Worker, RunsOneJobAfterTheOther) {
  Worker worker;
  for (int i = 0; i < 20; ++i) {
    const Worker::JobId id = worker.start([i](const std::stop_token&) { return std::to_string(i); });
    const std::vector<Worker::FinishedJob> done = wait_for(worker, 1);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].id, id);
    EXPECT_FALSE(done[0].stopped);
    EXPECT_EQ(done[0].result, std::to_string(i));
  }
  EXPECT_TRUE(worker.take_finished().empty());
}

TEST(Worker, ANewerJobReplacesOlderOnes) {
  Worker worker;
  std::vector<Worker::JobId> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(worker.start(run_until_stopped));
  ids.push_back(worker.start([](const std::stop_token&) -> Result<std::string> { return "last"; }));
  const std::vector<Worker::FinishedJob> done = wait_for(worker, ids.size());
  ASSERT_EQ(done.size(), ids.size());
  for (const Worker::FinishedJob& one : done) EXPECT_EQ(one.stopped, one.id != ids.back());
  EXPECT_EQ(done.back().result, "last");
}

TEST(Worker, ACancelledJobEnds) {
  Worker worker;
  const Worker::JobId id = worker.start(run_until_stopped);
  worker.cancel(id + 1);  // no such job
  worker.cancel(id);
  const std::vector<Worker::FinishedJob> done = wait_for(worker, 1);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_TRUE(done[0].stopped);
  worker.cancel(id);  // has ended
  EXPECT_TRUE(worker.take_finished().empty());
}

TEST(Worker, ItsEndStopsTheJob) {
  for (int i = 0; i < 50; ++i) {
    Worker worker;
    worker.start(run_until_stopped);
  }
}

}  // namespace
}  // namespace capstan::serve
