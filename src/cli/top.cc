#include "cli/top.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "archive/recording.h"
#include "cli/offline.h"
#include "cli/run.h"
#include "cli/screen.h"
#include "cli/stop_signal.h"
#include "cli/terminal.h"
#include "experiment/run/job_names.h"
#include "experiment/run/prepare.h"
#include "experiment/text/moment.h"
#include "net/monotonic.h"
#include "serve/followed_recording.h"
#include "serve/paced_run.h"
#include "serve/result_file.h"
#include "top/feed.h"
#include "top/watched_view.h"

namespace capstan::cli {
namespace {

using namespace std::chrono_literals;
using capstan::top::Feed;
using capstan::top::View;

constexpr Duration kBetweenDrawings = 100ms;
constexpr Duration kClusterRetry = 5s;

template <typename T>
using Or = std::expected<T, manifest::Errors>;

capstan::top::Facts facts_of(const archive::SavedState& state) {
  return capstan::top::facts_of(state, archive::redecide(state));
}

/// A handle: as long as it exists, further states are shown in the feed.
using FeedHandle = std::shared_ptr<void>;

/// The first state to show, and the source of further states.
struct FactSource {
  std::optional<archive::SavedState> state{};
  std::function<FeedHandle(Feed&)> follow{};  ///< empty: there are no further states
};

Or<FactSource> failed(const Error& error) { return std::unexpected(manifest::Errors(error)); }

Or<FactSource> open_recording(const TopArguments& arguments) {
  Result<archive::Recording> recording = archive::Recording::open(arguments.file);
  if (!recording) return failed(recording.error());
  Result<std::optional<archive::SavedState>> state;
  if (!arguments.at.empty()) {
    const Result<std::optional<archive::SavedState>> first = recording->next();
    if (!first) return failed(first.error());
    const Instant begin = *first ? (*first)->snapshot.at : Instant{};
    const Result<Instant> at = experiment::read_recorded_moment(arguments.at, begin);
    if (!at) return failed(at.error());
    if (*first) state = recording->first_from(*at);
    if (state && *first && !*state) {
      return failed({ErrorKind::usage, "--at " + arguments.at, 0, 0, "the recording ends before this moment"});
    }
  } else {
    state = recording->newest();
  }
  if (!state) return failed(state.error());
  if (!*state) return failed(Error::about(arguments.file, "the recording is empty, expected at least one decision"));
  if (!arguments.at.empty()) return FactSource{.state = **std::move(state)};
  const auto follow = [file = arguments.file, place = recording->place()](Feed& feed) -> FeedHandle {
    using serve::FollowedRecording;
    return std::make_shared<FollowedRecording>(
        archive::Follower(file, place), FollowedRecording::ReadMode::newest_state,
        FollowedRecording::Callbacks{
            .on_state = [&feed](const auto& seen,
                                const auto& decided) { feed.show(capstan::top::facts_of(seen, decided)); },
            .on_fault = [&feed](const std::string& fault) { feed.set_notice(fault); }});
  };
  return FactSource{.state = **std::move(state), .follow = follow};
}

Or<FactSource> open_scenario(const TopArguments& arguments, bool watches) {
  if (!watches || !arguments.at.empty()) {
    std::optional<Instant> at;
    if (!arguments.at.empty()) {
      const Result<Instant> moment = read_moment(arguments.at);
      if (!moment) return failed(moment.error());
      at = *moment;
    }
    auto state = simulated_state(arguments.file, arguments.overrides, at);
    if (!state) return std::unexpected(state.error());
    return FactSource{.state = *std::move(state)};
  }
  scenario::ScenarioResult scenario = scenario::read_scenario(arguments.file, arguments.overrides);
  if (!scenario) return std::unexpected(scenario.error());
  if (const Result<void> known = check_memory_is_known(scenario->policies.front(), "--policy"); !known) {
    return failed(known.error());
  }
  const auto follow = [shared = std::make_shared<scenario::Scenario>(*std::move(scenario)),
                       speed = arguments.speed](Feed& feed) -> FeedHandle {
    feed.set_state(fmt::format("{:g} × real time", speed));
    const auto config = std::make_shared<sim::ClusterConfig>(
        experiment::prepare(*shared, shared->policies.front(), shared->seed).setup.cluster);
    return std::make_shared<serve::PacedRun>(
        *shared, speed, net::machine_clock(),
        serve::PacedRun::Callbacks{.on_state =
                                       [&feed, config](const auto& seen, const auto& decided) {
                                         archive::SavedState named = seen;
                                         named.names = experiment::job_names(seen.snapshot, *config);
                                         feed.show(capstan::top::facts_of(named, decided));
                                       },
                                   .on_end =
                                       [&feed](const scenario::Scenario&, const Result<experiment::RunResult>& result) {
                                         if (!result) feed.set_notice(result.error().text());
                                         feed.set_state("ended");
                                       }});
  };
  return FactSource{.follow = follow};
}

Or<FactSource> open_cluster(const TopArguments& arguments, bool watches) {
  if (!watches) {
    Result<archive::SavedState> state = live_state(arguments.cluster);
    if (!state) return failed(state.error());
    return FactSource{.state = *std::move(state)};
  }
  const auto follow = [cluster = arguments.cluster](Feed& feed) -> FeedHandle {
    feed.set_state("reads the cluster");
    return std::make_shared<std::jthread>([cluster, &feed](const std::stop_token& stop) {
      std::mutex mutex;
      std::condition_variable_any stopped;
      while (!stop.stop_requested() && stop_signals() == 0) {
        const Result<void> watched = watch_states(cluster, stop, [&](const archive::SavedState& seen) {
          feed.show(facts_of(seen));
          feed.set_state("");
          feed.set_notice("");
        });
        if (watched) continue;
        feed.set_notice(watched.error().text());
        std::unique_lock lock(mutex);
        stopped.wait_for(lock, stop, kClusterRetry, [] { return false; });
      }
    });
  };
  return FactSource{.follow = follow};
}

/// Refuses options that do not fit the kind of the file.
Result<void> check_options(const TopArguments& arguments, std::optional<serve::FileKind> kind) {
  const auto refuse = [](std::string subject, std::string why) {
    return std::unexpected(Error{ErrorKind::usage, std::move(subject), 0, 0, std::move(why)});
  };
  const scenario::ScenarioOverrides& changes = arguments.overrides;
  const bool has_changes = !changes.sets.empty() || changes.trace || changes.seed || !changes.policies.empty();
  if (kind != serve::FileKind::scenario && has_changes) {
    return refuse(kind ? arguments.file : "capstan top",
                  "is no scenario, expected none of --policy, --trace, --seed and --set");
  }
  if (!arguments.at.empty() && (!kind || *kind == serve::FileKind::result)) {
    return refuse("--at", kind ? arguments.file + " has only one moment" : "a cluster has only the present");
  }
  return {};
}

Or<FactSource> open(const TopArguments& arguments, bool watches) {
  std::optional<serve::FileKind> kind;
  if (!arguments.file.empty()) kind = serve::kind_of_path(arguments.file);
  if (const Result<void> good = check_options(arguments, kind); !good) return failed(good.error());
  if (!kind) return open_cluster(arguments, watches);
  if (*kind == serve::FileKind::page) {
    return failed(Error::about(arguments.file,
                               "this is a page, such as one that --report wrote: open it in a browser; expected a "
                               "recording, a snapshot or a scenario"));
  }
  if (*kind == serve::FileKind::recording) return open_recording(arguments);
  if (*kind == serve::FileKind::scenario) return open_scenario(arguments, watches);
  Result<archive::SavedState> state = archive::read(arguments.file);  // JSON: a snapshot; a result is refused
  if (!state) return failed(state.error());
  return FactSource{.state = *std::move(state)};
}

/// Shows the feed on the screen until a key or a signal ends it.
class Watcher {
 public:
  Watcher(Feed& feed, View view) : feed_(feed), view_(std::move(view)) {}

  void run() {
    Screen screen;
    const net::Clock clock = net::machine_clock();
    Instant drawn{};
    bool is_due = true;
    while (stop_signals() == 0) {
      const Duration since = clock() - drawn;
      if (is_due && since >= kBetweenDrawings) {
        if (!draw(screen)) return;
        drawn = clock();
        is_due = false;
      }
      const Duration longest = is_due ? kBetweenDrawings - std::min(since, kBetweenDrawings) + 1ms : kStopPollInterval;
      // While a drawing is due, new facts must not end the wait: the next drawing shows them in any case.
      std::array<pollfd, 2> sockets{{{screen.poll_fd(), POLLIN, 0}, {is_due ? -1 : feed_.poll_fd(), POLLIN, 0}}};
      poll(sockets.data(), sockets.size(), static_cast<int>(longest / 1ms));
      if (screen.was_resized() || (sockets[1].revents & POLLIN) != 0) is_due = true;
      for (const Key key : screen.keys()) {
        if (key == Key::quit) return;
        view_.press(key);
        is_due = true;
        drawn = Instant{};
      }
    }
  }

 private:
  bool draw(Screen& screen) {
    const auto width = static_cast<std::size_t>(output_width());
    const auto height = static_cast<std::size_t>(std::max(output_height(), 1));
    return screen.draw(view_.lines(feed_.latest(), width, height));
  }

  Feed& feed_;
  capstan::top::WatchedView view_;
};

}  // namespace

ExitCode top(const TopArguments& arguments) {
  const bool watches = !arguments.once && Screen::is_available();
  View view{.sort = arguments.sort, .source = arguments.file};
  if (view.source.empty()) view.source = arguments.cluster.context.empty() ? "cluster" : arguments.cluster.context;
  view.output.color = wants_color();
  view.output.utf8 = !output_is_terminal() || locale_is_utf8();
  view.output.width = static_cast<std::size_t>(output_width());
  Or<FactSource> opened = open(arguments, watches);
  if (!opened) return report(opened.error());
  if (!watches) return print(capstan::top::frame(facts_of(*opened->state), view));
  catch_stop_signals();
  Feed feed;
  if (opened->state) feed.show(facts_of(*opened->state));
  const FeedHandle source = opened->follow ? opened->follow(feed) : nullptr;
  view.takes_keys = true;
  Watcher(feed, std::move(view)).run();
  return kOk;
}

}  // namespace capstan::cli
