// Searches for hostile worlds in which an invariant is broken; scripts/swarm describes the usage.
#include <fmt/format.h>

#include <unistd.h>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "swarm/run_world.h"
#include "swarm/tally.h"
#include "swarm/verdict.h"
#include "swarm/world.h"

namespace capstan::swarm {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

enum Exit : int { kClean = 0, kError = 1, kViolations = 2, kUsage = 64 };

constexpr std::uint64_t kVerifyInterval = 16;  ///< the decisions of every sixteenth world are verified
constexpr int kMaxReports = 20;                ///< worlds whose violations are printed; further worlds are only counted
constexpr auto kGrace = 2min;                  ///< time that running worlds get after the deadline

bool is_verified(const World& world) { return world.number % kVerifyInterval == 0; }

/// The text to print if the program is aborted inside a world, for example by a broken assertion.
thread_local char abort_message[4096];

void print_abort_message(int signal) {
  // NOLINTNEXTLINE: an error while writing to standard error cannot be reported.
  if (::write(STDERR_FILENO, abort_message, std::strlen(abort_message)) < 0) _exit(128 + signal);
  _exit(kViolations);
}

void prepare_abort_message(const World& world) {
  std::snprintf(abort_message, sizeof abort_message, "swarm: world %s aborted the program\n  %s\n",
                world.name().c_str(), world.command().c_str());
}

/// Simulates the worlds of one seed in order, on several threads, until the deadline.
class Search {
 public:
  Search(const Runner& runner, std::uint64_t seed, Clock::time_point deadline, unsigned threads)
      : runner_(runner), seed_(seed), deadline_(deadline), threads_(threads) {}

  Exit run() {
    std::vector<std::thread> threads;
    running_ = threads_;
    for (unsigned i = 0; i < threads_; ++i) threads.emplace_back([this] { work(); });
    std::unique_lock lock(mutex_);
    if (!ended_.wait_until(lock, deadline_ + kGrace, [this] { return running_ == 0; })) {
      for (const auto& [thread, world] : current_) {
        fmt::print("swarm: world {} has not ended {} min after the deadline\n  {}\n", world.name(), kGrace / 1min,
                   world.command());
      }
      std::fflush(stdout);
      _exit(kViolations);
    }
    lock.unlock();
    for (std::thread& thread : threads) thread.join();
    return tally_.is_clean() ? kClean : kViolations;
  }

  const Tally& tally() const { return tally_; }

 private:
  void work() {
    while (Clock::now() < deadline_) {
      const World world = draw(seed_, next_++);
      prepare_abort_message(world);
      set_current(world);
      const auto result = runner_.run(world, is_verified(world));
      if (!result) {
        report_unreadable(world, result.error());
        continue;
      }
      if (const auto counter = report_violations(world, *result)) report_reduced(world, **counter);
    }
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) ended_.notify_all();
  }

  void set_current(const World& world) {
    const std::lock_guard lock(mutex_);
    current_.insert_or_assign(std::this_thread::get_id(), world);
  }

  void report_unreadable(const World& world, const Error& error) {
    const std::lock_guard lock(mutex_);
    tally_.add_failure();
    fmt::print("swarm: world {} cannot be read: {}\n  {}\n", world.name(), error.text(), world.command());
    std::fflush(stdout);
  }

  /// Counts a run and prints its violations.
  /// @return the counter of the first violation, for report_reduced(); nothing if no violation was printed
  std::optional<const Counter*> report_violations(const World& world, const experiment::RunResult& result) {
    const std::lock_guard lock(mutex_);
    const std::vector<BrokenInvariant> violations = tally_.add(world, result);
    if (violations.empty() || tally_.violations() > kMaxReports) return std::nullopt;
    for (const BrokenInvariant& one : violations) fmt::print("swarm: world {} {}\n", world.name(), to_text(one));
    fmt::print("  {}\n", world.command());
    std::fflush(stdout);
    return violations.front().counter;
  }

  void report_reduced(const World& world, const Counter& counter) {
    const World small = runner_.reduced(world, counter, is_verified(world));
    const std::lock_guard lock(mutex_);
    fmt::print("swarm: world {}, reduced to the changes that break invariant {}\n  {}\n", world.name(),
               counter.invariant, small.command());
    std::fflush(stdout);
  }

  const Runner& runner_;
  const std::uint64_t seed_;
  const Clock::time_point deadline_;
  const unsigned threads_;
  std::atomic<std::uint64_t> next_ = 1;
  std::mutex mutex_;
  std::condition_variable ended_;
  unsigned running_ = 0;
  std::map<std::thread::id, World> current_;
  Tally tally_;
};

/// Runs one world and prints the invariants that it broke, including the ones that its policies may break.
Exit repeat(const Runner& runner, std::uint64_t seed, std::uint64_t number) {
  const World world = draw(seed, number);
  prepare_abort_message(world);
  fmt::print("  {}\n", world.command());
  std::fflush(stdout);
  const auto result = runner.run(world, true);
  if (!result) {
    fmt::print("swarm: world {} cannot be read: {}\n", world.name(), result.error().text());
    return kError;
  }
  Exit exit = kClean;
  for (const BrokenInvariant& one : find_broken(result->invariants)) {
    const bool violation = is_violation(one, world.owner);
    fmt::print("swarm: world {} {}{}\n", world.name(), to_text(one), violation ? "" : ", which a baseline may do");
    if (!violation) continue;
    exit = kViolations;
    fmt::print("  {}\n", runner.reduced(world, *one.counter, true).command());
  }
  if (exit == kClean) fmt::print("swarm: world {} broke no invariant that its policies must keep\n", world.name());
  return exit;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Exit usage() {
  fmt::print(stderr, "usage: scripts/swarm [--seed N] MINUTES | scripts/swarm --repeat SEED:NUMBER\n");
  return kUsage;
}

int main_of(const std::vector<std::string>& arguments) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, print_abort_message);
  std::ifstream file(kWorldFile);
  if (!file) {
    fmt::print(stderr, "swarm: cannot read {}: run it from the project's root\n", kWorldFile);
    return kError;
  }
  std::stringstream base;
  base << file.rdbuf();
  const Runner runner(base.str());

  if (arguments.size() == 2 && arguments[0] == "--repeat") {
    const std::size_t colon = arguments[1].find(':');
    if (colon == std::string::npos) return usage();
    const auto seed = number(arguments[1].substr(0, colon)), world_number = number(arguments[1].substr(colon + 1));
    return seed && world_number ? repeat(runner, *seed, *world_number) : usage();
  }
  const bool has_seed = arguments.size() == 3 && arguments[0] == "--seed";
  if (!has_seed && arguments.size() != 1) return usage();
  const auto minutes = number(arguments.back());
  const auto given_seed = has_seed ? number(arguments[1]) : std::optional<std::uint64_t>(0);
  if (!minutes || !given_seed) return usage();
  const std::uint64_t seed =
      has_seed ? *given_seed : static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() / 1s);

  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const auto start = Clock::now();
  Search search(runner, seed, start + std::chrono::minutes(*minutes), threads);
  const Exit exit = search.run();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  fmt::print("{}swarm: seed {}, {} violations, {:.0f} simulated hours in {:.0f} s ({:.0f} per second)\n",
             search.tally().to_text(), seed, search.tally().violations(), search.tally().simulated_hours(), seconds,
             search.tally().simulated_hours() / std::max(seconds, 0.001));
  return exit;
}

}  // namespace
}  // namespace capstan::swarm

int main(int argc, char** argv) { return capstan::swarm::main_of(std::vector<std::string>(argv + 1, argv + argc)); }
