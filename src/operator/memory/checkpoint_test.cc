#include "operator/memory/checkpoint.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan::op {
namespace {

using std::chrono::seconds;

Checkpoint::Row row(std::int64_t seed) {
  Checkpoint::Row row;
  row.memory.has_decided = true;
  row.memory.recommendations.push_back({{seconds(seed)}, seed});
  if (seed % 2 == 0) {
    row.slo.rolled_back_at = {seconds(seed)};
    if (seed % 4 == 0)
      row.slo.good = {decide::scale::QueueHpa{.waiting_per_replica = seed, .running_per_replica = {}, .hpa = {}},
                      seed,
                      {seconds(seed)}};
  }
  row.ledger.add(seed, whole_gpus(8), {1}, {seconds(seed)});
  return row;
}

Checkpoint read(const std::array<std::string, Checkpoint::kParts>& texts, std::size_t& left_out) {
  Checkpoint checkpoint;
  kube::JsonDocument document;
  left_out = 0;
  for (const std::string& text : texts) left_out += read_config_map(document.parse(text).value(), checkpoint);
  return checkpoint;
}

RC_GTEST_PROP(Checkpoint, IsReadAsItWasWritten, ()) {
  Checkpoint checkpoint;
  for (int i = *rc::gen::inRange(0, 50); i > 0; --i) checkpoint.rows["uid" + std::to_string(i) + "/k/n"] = row(i);
  std::size_t left_out = 1;
  const auto texts = to_config_maps(checkpoint, left_out);
  RC_ASSERT(left_out == 0u);
  RC_ASSERT((read(texts, left_out) == checkpoint));
  RC_ASSERT(left_out == 0u);
}

TEST(Checkpoint, ItsSizeIsBounded) {
  Checkpoint checkpoint;
  Checkpoint::Row large = row(1);
  for (int i = 0; i < 3'000; ++i) large.memory.recommendations.push_back({{seconds(1'700'000'000 + i)}, 100'000});
  for (int i = 0; i < 200; ++i) checkpoint.rows["uid" + std::to_string(i)] = large;
  std::size_t left_out = 0;
  const auto texts = to_config_maps(checkpoint, left_out);
  EXPECT_GT(left_out, 0u);
  for (const std::string& text : texts) EXPECT_LT(text.size(), 1'000'000u);
  std::size_t unread = 0;
  EXPECT_EQ(read(texts, unread).rows.size(), 200 - left_out);
}

TEST(Checkpoint, RowsOfAnotherVersionAreSkipped) {
  kube::JsonDocument document;
  Checkpoint checkpoint;
  EXPECT_EQ(read_config_map(document.parse(R"({"data": {"rows": "a\tscale-memory/11 0\tledger/1\nb\n"}})").value(),
                            checkpoint),
            2u);
  EXPECT_TRUE(checkpoint.rows.empty());
  EXPECT_EQ(read_config_map(document.parse(R"({"kind": "ConfigMap"})").value(), checkpoint), 0u);
}

/// Returns a row with the memory of Capstan's own policy about the given number of replicas.
Checkpoint::Row own_row(std::uint32_t replicas) {
  Checkpoint::Row row;
  decide::scale::CapstanMemory& memory = row.memory.capstan.emplace();
  for (std::uint32_t i = 0; i < replicas; ++i) {
    decide::scale::CapstanMemory::Counters& counters = memory.counters.emplace_back();
    counters.id = {i};
    counters.measured_at = {seconds(1'800'000'000) + std::chrono::nanoseconds(i)};
    counters.prompt_tokens = counters.generated_tokens = 9'000'000'000 + i;
    counters.prompt_rate_milli = counters.generated_rate_milli = 50'000'000;
    counters.waiting = counters.running = counters.running_milli = 100'000;
    row.replicas.push_back("01234567-89ab-cdef-0123-" + std::to_string(100'000'000'000 + i));
  }
  return row;
}

TEST(Checkpoint, StoresTheMemoryOfReplicasWithTheirPods) {
  Checkpoint checkpoint;
  checkpoint.rows["uid/Deployment/chat"] = own_row(3);
  checkpoint.rows["uid/Deployment/chat"].slo.rolled_back_at = {seconds(7)};
  checkpoint.rows["uid/Deployment/none"] = own_row(0);
  std::size_t left_out = 0;
  EXPECT_EQ(read(to_config_maps(checkpoint, left_out), left_out), checkpoint);
  EXPECT_EQ(left_out, 0u);
  // A memory that names a fourth replica is refused.
  checkpoint.rows["uid/Deployment/chat"].replicas.pop_back();
  EXPECT_EQ(read(to_config_maps(checkpoint, left_out), left_out).rows.size(), 1u);
  EXPECT_EQ(left_out, 1u);
}

TEST(Checkpoint, TenThousandReplicasOfCapstansPolicyFit) {
  Checkpoint checkpoint;
  for (int i = 0; i < 1'000; ++i) checkpoint.rows["small-" + std::to_string(i)] = own_row(9);
  checkpoint.rows["large"] = own_row(decide::scale::CapstanMemory::kMaxReplicas);
  std::size_t left_out = 1;
  const auto texts = to_config_maps(checkpoint, left_out);
  EXPECT_EQ(left_out, 0u);
  std::size_t bytes = 0;
  for (const std::string& text : texts) {
    EXPECT_LT(text.size(), 1'000'000u);
    bytes += text.size();
  }
  EXPECT_GT(bytes, 1'000'000u);
  EXPECT_EQ(read(texts, left_out), checkpoint);
}

}  // namespace
}  // namespace capstan::op
