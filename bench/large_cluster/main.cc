// Makes one measurement of a large cluster and prints its result as one line of `key=value` words. scripts/bench decide
// runs one process for each measurement, so that a bound of time and memory holds for each.
//
//   large_cluster_bench NAME UNITS [FILE]
//
// One hundred units are 12,500 nodes. FILE is the snapshot file that `write` writes and `read` reads.

#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive/saved_state.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "fleet/index.h"
#include "large_cluster/kube_cluster.h"
#include "large_cluster/model_cluster.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::bench {
namespace {

using std::chrono::seconds;

/// A measurement is repeated this many times, or until its repetitions have used `kEnoughSeconds` of CPU time.
constexpr std::size_t kRepetitions = 7;
constexpr double kEnoughSeconds = 15;
constexpr std::uint32_t kChangedPods = 100;

struct Arguments {
  Layout layout;
  std::string file;
};

/// Returns the CPU time of this thread, the only one, in seconds. CPU time varies less than wall time. The clock of the
/// process would count whole ticks of 4 ms, because scripts/bench limits the CPU time of the process.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::size_t heap_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

/// Returns the largest resident memory of this process so far, in bytes.
std::size_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

/// Returns the median CPU time of `measured` in seconds. `prepare` runs before each repetition and is not measured.
template <typename Prepare, typename Measured>
double median_seconds(Prepare prepare, Measured measured) {
  std::vector<double> times;
  const double begin = cpu_seconds();
  do {
    prepare();
    const double start = cpu_seconds();
    measured();
    times.push_back(cpu_seconds() - start);
  } while (times.size() < kRepetitions && cpu_seconds() - begin < kEnoughSeconds);
  std::ranges::sort(times);
  return times[times.size() / 2];
}
template <typename Measured>
double median_seconds(Measured measured) {
  return median_seconds([] {}, measured);
}

std::string placement_words(const PlacementCounts& placement) {
  return fmt::format("placed={} bound_pods={} cannot_fit={} other={}{}", placement.placed, placement.bound_pods,
                     placement.cannot_fit, placement.other,
                     placement.broken.empty() ? "" : " broken=" + placement.broken);
}

using fleet::Index;

decide::place::Decision place(Index& index, const model::Snapshot& snapshot, decide::place::Memory& memory,
                              Instant now = kNow) {
  return decide::place::decide(index, snapshot, {}, decide::place::Policy{}, memory, now);
}

std::string build_index(const Arguments& arguments) {
  const archive::SavedState state = model_cluster(arguments.layout);
  std::optional<Index> index;
  const double time = median_seconds([&] { index.reset(); }, [&] { index = fleet::build(state.snapshot); });
  return fmt::format("seconds={}", time);
}

/// Measures a cycle of a controller that has just started, so that the index has no `assumed` rooms of earlier cycles.
std::string cycle(const Arguments& arguments) {
  const archive::SavedState state = model_cluster(arguments.layout);
  Index index = fleet::build(state.snapshot);
  decide::place::Decision decision;
  const auto restart = [&] { index.assumed = {}; };
  const double time = median_seconds(restart, [&] {
    decide::place::Memory memory;
    decision = place(index, state.snapshot, memory);
  });
  return fmt::format("seconds={} {}", time,
                     placement_words(check_placement(state.snapshot, arguments.layout, decision)));
}

/// Measures the update of the index and the decision after a change, with the memory of the decision before it.
std::string cycle_after(const Arguments& arguments, Change (*make)(const model::Snapshot&, const Layout&)) {
  const archive::SavedState state = model_cluster(arguments.layout);
  const Change change = make(state.snapshot, arguments.layout);
  Index index = fleet::build(state.snapshot);
  decide::place::Memory settled, memory;
  place(index, state.snapshot, settled);
  decide::place::Decision decision;
  bool is_changed = false;
  const auto restore = [&] {
    if (is_changed) fleet::apply(index, state.snapshot, change.delta);
    is_changed = true;
    memory = settled;
  };
  const double time = median_seconds(restore, [&] {
    fleet::apply(index, change.after, change.delta);
    decision = place(index, change.after, memory, kNow + seconds(1));
  });
  return fmt::format("seconds={} {}", time, placement_words(check_placement(change.after, arguments.layout, decision)));
}

/// Measures a cycle with only one gang, which fits nowhere and is refused. No earlier cycle has refused the gang.
std::string verdict(const Arguments& arguments) {
  const archive::SavedState state = model_cluster(arguments.layout);
  const model::Snapshot snapshot = only_unplaceable_gang(state.snapshot, arguments.layout);
  Index index = fleet::build(snapshot);
  decide::place::Decision decision;
  const auto forget = [&] { index.assumed.refusals = {}; };
  const double time = median_seconds(forget, [&] {
    decide::place::Memory memory;
    decision = place(index, snapshot, memory);
  });
  return fmt::format("seconds={} {}", time, placement_words(check_placement(snapshot, arguments.layout, decision)));
}

/// Measures a full cycle for gangs that may stand anywhere in the cluster. For comparison, measures a cycle in which
/// each gang must stand in a rack.
std::string anywhere(const Arguments& arguments) {
  const archive::SavedState state = model_cluster(arguments.layout);
  const auto cycle_of = [&](model::TopologyLevel level) {
    const model::Snapshot snapshot = with_gangs_of_level(state.snapshot, level);
    Index index = fleet::build(snapshot);
    decide::place::Decision decision;
    const double time = median_seconds([&] { index.assumed = {}; },
                                       [&] {
                                         decide::place::Memory memory;
                                         decision = place(index, snapshot, memory);
                                       });
    return std::pair(time, check_placement(snapshot, arguments.layout, decision));
  };
  const auto [rack_seconds, in_racks] = cycle_of(model::TopologyLevel::rack);
  const auto [seconds, in_cluster] = cycle_of(model::TopologyLevel::cluster);
  return fmt::format("seconds={} {} in_racks_ms={:.1f} in_racks_placed={} times_racks={:.2f}", seconds,
                     placement_words(in_cluster), rack_seconds * 1e3, in_racks.placed, seconds / rack_seconds);
}

/// Measures what provisioning costs after the full placement cycle.
std::string provision(const Arguments& arguments) {
  const archive::SavedState state = model_cluster(arguments.layout);
  Index index = fleet::build(state.snapshot);
  decide::place::Memory place_memory;
  const decide::place::Decision placed = place(index, state.snapshot, place_memory);
  decide::provision::Decision bought;
  const double time = median_seconds([&] {
    decide::provision::Memory memory;
    bought = decide::provision::decide(index, state.snapshot, placed, decide::provision::whole_groups(), memory, kNow);
  });
  return fmt::format("seconds={} short_gpus={} launched_gpus={}", time, bought.short_gpus, bought.launched_gpus);
}

/// Measures the memory of the snapshot and of its index. The index is measured after a cycle, which fills its `assumed`
/// rooms. The names, the policies and the layout do not count.
std::string memory_of_snapshot(const Arguments& arguments) {
  archive::SavedState state = model_cluster(arguments.layout);
  std::size_t before = heap_bytes();
  Index index = fleet::build(state.snapshot);
  {
    decide::place::Memory memory;
    place(index, state.snapshot, memory);
  }
  const std::size_t index_bytes = heap_bytes() - before;
  before = heap_bytes();
  state.snapshot = {};
  const std::size_t snapshot_bytes = before - heap_bytes();
  return fmt::format("bytes={} index_bytes={} snapshot_bytes={}", index_bytes + snapshot_bytes, index_bytes,
                     snapshot_bytes);
}

std::string write_file(const Arguments& arguments) {
  const archive::SavedState state = model_cluster(arguments.layout);
  std::size_t bytes = 0;
  const double time = median_seconds([&] {
    const std::string text = archive::to_json(state);
    bytes = text.size();
    std::ofstream(arguments.file, std::ios::binary) << text;
  });
  return fmt::format("seconds={} bytes={} file_bytes={}", time, peak_bytes(), bytes);
}

std::string read_file(const Arguments& arguments) {
  Result<archive::SavedState> state = std::unexpected(Error{});
  const double time = median_seconds([&] { state = archive::read(arguments.file); });
  if (!state) return "refused=" + state.error().message;
  return fmt::format("seconds={} bytes={} hash={:x}", time, peak_bytes(), model::state_hash(state->snapshot));
}

std::string row_words(const op::SnapshotBuilder::Output& seen) {
  return fmt::format(
      "nodes={} gangs={} pods={} changed_rows={}", seen.snapshot.nodes.size(), seen.snapshot.gangs.size(),
      seen.snapshot.pods.size(),
      seen.delta.services.size() + seen.delta.nodes.size() + seen.delta.gangs.size() + seen.delta.pods.size());
}

std::string first_snapshot(const Arguments& arguments) {
  const KubeCluster cluster(arguments.layout);
  const op::ClusterView view = cluster.view();
  std::optional<op::SnapshotBuilder> builder;
  op::SnapshotBuilder::Output seen;
  const auto restart = [&] {
    seen = {};
    builder.emplace();
  };
  const double time =
      median_seconds(restart, [&] { seen = builder->build(view, cluster.readings(), kFirstSnapshotAt); });
  return fmt::format("seconds={} {}", time, row_words(seen));
}

using ChangeCluster = void (*)(KubeCluster&);

/// Measures the build of a snapshot after a change.
/// @param restore  brings the cluster into the state before the change; a build that is not measured follows
/// @param reads_all  the build reads all objects, whatever has changed
std::string later_snapshot(const Arguments& arguments, ChangeCluster restore, ChangeCluster change,
                           bool reads_all = false) {
  KubeCluster cluster(arguments.layout);
  op::ClusterView view = cluster.view();
  op::SnapshotBuilder builder;
  op::SnapshotBuilder::Output seen;
  Instant at = kFirstSnapshotAt;
  const auto look = [&] { seen = builder.build(view, cluster.readings(), at); };
  look();
  const auto prepare = [&] {
    restore(cluster);
    view = cluster.view();
    look();
    change(cluster);
    view = cluster.view();
    at = at + std::chrono::seconds(1);
    if (reads_all) builder.forget_last_pass();
  };
  const double time = median_seconds(prepare, look);
  return fmt::format("seconds={} {}", time, row_words(seen));
}

void change_nothing(KubeCluster&) {}

/// These functions bring the cluster into the state before a change: without created pods, or with the pending and
/// bound pods that the change needs.
void remove_created_pods(KubeCluster& cluster) { cluster.delete_created_gangs(3 * kChangedPods); }
void prepare_pending_pods(KubeCluster& cluster) {
  remove_created_pods(cluster);
  cluster.create_pods(kChangedPods);
}
void prepare_bound_pods(KubeCluster& cluster) {
  prepare_pending_pods(cluster);
  cluster.bind_created_gangs(kChangedPods);
}
void prepare_pending_and_bound_pods(KubeCluster& cluster) {
  prepare_bound_pods(cluster);
  cluster.create_pods(kChangedPods);
}
void change_mixed_pods(KubeCluster& cluster) {
  cluster.delete_created_gangs(kChangedPods / 3);
  cluster.bind_created_gangs(kChangedPods / 3);
  cluster.create_pods(kChangedPods / 3);
}

using Measurement = std::function<std::string(const Arguments&)>;

const std::map<std::string_view, Measurement> kMeasurements = {
    {"index", build_index},
    {"cycle", cycle},
    {"pod-ends", [](const Arguments& a) { return cycle_after(a, pod_ends); }},
    {"node-appears", [](const Arguments& a) { return cycle_after(a, node_appears); }},
    {"gang-appears", [](const Arguments& a) { return cycle_after(a, gang_appears); }},
    {"verdict", verdict},
    {"anywhere", anywhere},
    {"provision", provision},
    {"memory", memory_of_snapshot},
    {"write", write_file},
    {"read", read_file},
    {"snapshot-first", first_snapshot},
    {"snapshot-unchanged", [](const Arguments& a) { return later_snapshot(a, change_nothing, change_nothing); }},
    {"snapshot-all", [](const Arguments& a) { return later_snapshot(a, change_nothing, change_nothing, true); }},
    {"snapshot-changed",
     [](const Arguments& a) {
       return later_snapshot(a, change_nothing, [](KubeCluster& c) { c.change_pods(kChangedPods); });
     }},
    {"snapshot-created",
     [](const Arguments& a) {
       return later_snapshot(a, remove_created_pods, [](KubeCluster& c) { c.create_pods(kChangedPods); });
     }},
    {"snapshot-bound",
     [](const Arguments& a) {
       return later_snapshot(a, prepare_pending_pods, [](KubeCluster& c) { c.bind_created_gangs(kChangedPods); });
     }},
    {"snapshot-deleted", [](const Arguments& a) { return later_snapshot(a, prepare_bound_pods, remove_created_pods); }},
    {"snapshot-mixed",
     [](const Arguments& a) { return later_snapshot(a, prepare_pending_and_bound_pods, change_mixed_pods); }},
    {"snapshot-foreign",
     [](const Arguments& a) {
       return later_snapshot(
           a, [](KubeCluster& c) { c.delete_foreign_pods(); },
           [](KubeCluster& c) { c.create_foreign_pods(kChangedPods); });
     }},
    {"snapshot-node-added",
     [](const Arguments& a) {
       return later_snapshot(a, [](KubeCluster& c) { c.remove_node(); }, [](KubeCluster& c) { c.add_node(); });
     }},
    {"snapshot-node-removed",
     [](const Arguments& a) {
       return later_snapshot(a, [](KubeCluster& c) { c.add_node(); }, [](KubeCluster& c) { c.remove_node(); });
     }},
};

}  // namespace
}  // namespace capstan::bench

int main(int argc, char** argv) {
  using namespace capstan::bench;
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  std::uint32_t units = 0;
  const bool has_units =
      words.size() >= 2 && std::from_chars(words[1].begin(), words[1].end(), units).ec == std::errc();
  const auto found = words.empty() ? kMeasurements.end() : kMeasurements.find(words[0]);
  const bool needs_file = !words.empty() && (words[0] == "write" || words[0] == "read");
  if (found == kMeasurements.end() || !has_units || units == 0 || words.size() != (needs_file ? 3u : 2u)) {
    std::fputs("usage: large_cluster_bench NAME UNITS [FILE]\n", stderr);
    return 64;
  }
  const Arguments arguments{make_layout(units), needs_file ? std::string(words[2]) : std::string()};
  std::puts(found->second(arguments).c_str());
  return 0;
}
