// Tests a store with random faults between it and its server. After the faults the store must equal the server, and no
// event may have been applied twice or left out.
#include <gtest/gtest.h>

#include <algorithm>

#include "bench.h"
#include "kube/watcher.h"

namespace capstan::kube::fake {
namespace {

using namespace std::chrono_literals;

struct Thing {
  Meta meta;
  std::int64_t value = 0;
};
Thing read_thing(Json object) { return {read_meta(object), object["value"].integer()}; }

/// A store that records each event that changed it. New lists are only counted.
class Recorder : public Sink {
 public:
  explicit Recorder(FakeServer& server) : server_(server) {}

  void begin() override { store.begin(); }
  bool stage(Json object) override { return store.stage(object); }
  void unstage(Json object) override { store.unstage(object); }
  void finish() override {
    store.finish();
    ++copies;
  }
  bool set(Json object) override {
    return changed(object, [&] { return store.set(object); });
  }
  void erase(Json object) override {
    changed(object, [&] { return store.erase(object), true; });
  }
  void fresh(Instant now) override { store.fresh(now); }

  Store<Thing> store{read_thing};
  std::vector<std::size_t> applied;  // positions in the server's history
  int copies = 0;

 private:
  template <typename Change>
  bool changed(Json object, Change change) {
    const std::uint64_t before = store.snapshot().version;
    const bool has_changed = change();
    if (store.snapshot().version == before) return has_changed;
    const std::string version(object["metadata"]["resourceVersion"].text());
    applied.push_back(server_.position(version).value());
    return has_changed;
  }
  FakeServer& server_;
};

struct Swarm {
  explicit Swarm(std::uint64_t seed)
      : bench(seed),
        recorder(bench.server),
        random(seed, "swarm"),
        watcher(bench.client, bench.document, {resources::kPods}, recorder, options(seed),
                RandomStream(seed, "reflector"), bench.server.clock()) {
    bench.server.page_max = static_cast<int>(random.between(1, 20));
    bench.server.watch_list = static_cast<FakeServer::WatchList>(random.below(3));
  }

  static Reflector::Options options(std::uint64_t seed) {
    Reflector::Options options;
    options.watch_list = seed % 3 != 0;
    options.page_objects = 1 + static_cast<int>(seed % 7);
    options.watch_min = 20s;
    options.watch_max = 90s;
    options.initial_events_max = 15s;
    return options;
  }

  void write() {
    const std::string name = "pod" + std::to_string(random.below(12));
    if (random.below(4) == 0) {
      bench.server.remove(kPodsPath, "ns/" + name);
    } else {
      bench.server.put(kPodsPath, "ns", name, {{"value", random.between(0, 1'000'000)}});
    }
    if (random.below(10) == 0) bench.server.put("/api/v1/secrets", "ns", name, json::object());
  }

  void run(Duration duration) {
    bench.server.advance(duration, [this] {
      watcher.run_once();
      bench.client.run_once();
    });
  }

  /// Advances the time in small steps, so that deadlines pass although nothing arrives.
  void run_quietly(Duration duration) {
    for (Duration passed{}; passed < duration; passed += 100ms) run(100ms);
  }

  std::map<std::string, std::string> stored() const {
    std::map<std::string, std::string> out;
    recorder.store.snapshot().for_each([&](RowId, const Thing& thing) {
      out[thing.meta.key()] = thing.meta.uid + " " + thing.meta.resource_version + " " + std::to_string(thing.value);
    });
    return out;
  }
  std::map<std::string, std::string> served() {
    std::map<std::string, std::string> out;
    for (const auto& [key, object] : bench.server.objects(kPodsPath)) {
      const json& metadata = object["metadata"];
      out[key] = metadata["uid"].get<std::string>() + " " + metadata["resourceVersion"].get<std::string>() + " " +
                 std::to_string(object.value("value", 0));
    }
    return out;
  }

  static constexpr const char* kPodsPath = "/api/v1/pods";
  Bench bench;
  Recorder recorder;
  RandomStream random;
  Watcher watcher;
};

TEST(ReflectorSwarm, AfterTheFaultsTheStoreEqualsTheServer) {
  std::uint64_t relists = 0;
  std::uint64_t applied = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Swarm swarm(seed);
    swarm.bench.server.faults = Faults::all(static_cast<std::uint32_t>(swarm.random.below(150'000)));
    for (int i = 0; i < 120; ++i) {
      for (std::uint64_t n = swarm.random.below(4); n > 0; --n) swarm.write();
      if (swarm.random.below(40) == 0) swarm.bench.server.compact();
      if (swarm.random.below(40) == 0) swarm.bench.server.drop_all();
      swarm.run(Duration(swarm.random.between(0, Duration(2s).count())));
    }
    swarm.bench.server.faults = {};
    swarm.run_quietly(200s);  // longer than the time after which a half-open watch is given up
    ASSERT_TRUE(swarm.watcher.reflector().synced());
    ASSERT_EQ(swarm.stored(), swarm.served());
    ASSERT_TRUE(std::ranges::is_sorted(swarm.recorder.applied, std::ranges::less_equal()))
        << "an event was applied twice or out of order";
    relists += swarm.watcher.reflector().relists();
    applied += swarm.recorder.applied.size();
  }
  EXPECT_GT(relists, 150u) << "there are too few faults to test anything";
  EXPECT_GT(applied, 5'000u) << "there are too many faults to apply anything";
}

TEST(ReflectorSwarm, LosesNoEventAndRelistsNothingIfNoVersionIsDropped) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Swarm swarm(seed);
    for (int i = 0; i < 5; ++i) swarm.write();
    swarm.run_quietly(20s);
    ASSERT_TRUE(swarm.watcher.reflector().synced());
    const std::size_t from = swarm.bench.server.history().size();
    swarm.bench.server.faults = Faults::all(50'000);
    swarm.bench.server.faults.gone = swarm.bench.server.faults.gone_in_stream = 0;
    for (int i = 0; i < 200; ++i) {
      if (swarm.random.below(2) == 0) swarm.write();
      swarm.run(500ms);
    }
    swarm.bench.server.faults = {};
    swarm.run_quietly(200s);
    ASSERT_EQ(swarm.recorder.copies, 1);
    std::vector<std::size_t> expected;
    for (std::size_t i = from; i < swarm.bench.server.history().size(); ++i) {
      if (swarm.bench.server.history()[i].collection == Swarm::kPodsPath) expected.push_back(i + 1);
    }
    ASSERT_EQ(swarm.recorder.applied, expected);
  }
}

TEST(ReflectorSwarm, CatchesUpWithinFiveSecondsAfterAnOutage) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Swarm swarm(seed);
    swarm.write();
    swarm.run_quietly(20s);
    swarm.bench.server.faults.unreachable = 1'000'000;
    swarm.bench.server.drop_all();
    swarm.run_quietly(120s);
    for (int i = 0; i < 5; ++i) swarm.write();
    ASSERT_NE(swarm.stored(), swarm.served());
    swarm.bench.server.faults = {};
    swarm.run_quietly(5s);
    ASSERT_EQ(swarm.stored(), swarm.served());
  }
}

TEST(ReflectorSwarm, AnEndedWatchResumesFromItsBookmark) {
  Swarm swarm(1);
  swarm.write();
  swarm.run_quietly(10s);
  swarm.bench.server.bookmark_period = 5s;
  // Other clients write, the server drops old versions, and the watch ends. Only the version of the bookmark is still
  // valid.
  swarm.run_quietly(100s);
  for (int i = 0; i < 20; ++i) swarm.bench.server.put("/api/v1/secrets", "ns", "s", {{"value", i}});
  swarm.run_quietly(10s);
  swarm.bench.server.compact();
  swarm.bench.server.drop_all();
  swarm.run_quietly(10s);
  EXPECT_EQ(swarm.recorder.copies, 1);
  EXPECT_LE(swarm.recorder.store.snapshot().age(swarm.bench.server.now()), 6s);
}

}  // namespace
}  // namespace capstan::kube::fake
