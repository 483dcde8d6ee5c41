#include "experiment/run/fleet_hook.h"

#include <gtest/gtest.h>

#include <set>

#include "base/testing/moment.h"
#include "model/signal_names.h"
#include "sim/fleet/fleet_fixture.h"
#include "workload/list_source.h"

namespace capstan::experiment {
namespace {

using capstan::testing::at_ms;
using capstan::testing::at_s;

using std::chrono::milliseconds;
using std::chrono::seconds;

/// One replica of one service that computes four requests. The fourth one waits, and is still running after 1 s.
class OneReplica {
 public:
  explicit OneReplica(const model::Slo& slo)
      : services_(1),
        requests_(arrivals()),
        fleet_({}, {sim::fleet_fixture::variant()}, slo, requests_),
        hook_({{.fleet = &fleet_, .variant = 0}}, services_) {
    services_[0].slo = slo;
    hook_.ready({.gang = {0}, .service = {0}, .ordinal = 0, .weights = seconds(20)}, Instant{});
    fleet_.advance(at_s(1));
  }

  FleetHook& hook() { return hook_; }

 private:
  static std::vector<workload::Request> arrivals() {
    std::vector<workload::Request> rows;
    for (int i = 0; i < 4; ++i) rows.push_back({.arrival = at_ms(11 * i), .input_tokens = 100, .output_tokens = 40});
    rows.back().output_tokens = 500;
    return rows;
  }

  std::vector<model::Service> services_;
  workload::ListSource requests_;
  sim::Fleet fleet_;
  FleetHook hook_;
};

TEST(FleetHook, AnEngineReportsEverySignal) {
  OneReplica one({.ttft = milliseconds(50), .tpot = milliseconds(5), .e2e = {}});
  const model::ReplicaSignals signals = one.hook().sample({0}, at_s(1), true).signals;
  const std::set<std::string_view> of_others = {"duty_cycle_percent", "memory_used_percent", "transfer_us_total",
                                                "transfers_total"};
  for (const model::ReplicaSignal& signal : model::kReplicaSignals) {
    EXPECT_EQ((signals.*signal.field).usable(), !of_others.contains(signal.name)) << signal.name;
  }
  EXPECT_EQ(signals.running, model::Signal::measured(1));
  EXPECT_EQ(signals.prompt_tokens_total, model::Signal::measured(400));
  EXPECT_EQ(signals.tpot_late_ppm, model::Signal::measured(500'000))
      << "the SLO is the middle of the bucket up to 10 ms";
  EXPECT_GT(signals.kv_usage_ppm.value, 0);
  EXPECT_EQ(signals.weights_us, model::Signal::measured(20'000'000));
  EXPECT_GT(signals.queue_us_total.value, 0) << "each request waits for the end of a step";
  EXPECT_EQ(signals.prefill_us_total, model::Signal::measured(40'000)) << "four prompts of 10 ms";
  EXPECT_EQ(signals.decode_us_total, model::Signal::measured(3 * 39 * 10'000)) << "the last request has not ended";
}

TEST(FleetHook, SharesNeedABoundAndObservations) {
  OneReplica unbounded({});
  const model::ReplicaSignals signals = unbounded.hook().sample({0}, at_s(1), true).signals;
  EXPECT_FALSE(signals.ttft_late_ppm.usable() || signals.queue_late_ppm.usable() || signals.tpot_late_ppm.usable());
  EXPECT_TRUE(signals.ttft_p99_us.usable());

  OneReplica bounded({.ttft = milliseconds(50), .tpot = milliseconds(5), .e2e = {}});
  bounded.hook().sample({0}, at_s(1), true);
  const model::ReplicaSignals later = bounded.hook().sample({0}, at_s(1), true).signals;
  EXPECT_FALSE(later.ttft_late_ppm.usable() || later.ttft_p99_us.usable()) << "no first token since the last scrape";
  EXPECT_EQ(later.generated_tokens_total, signals.generated_tokens_total);
}

}  // namespace
}  // namespace capstan::experiment
