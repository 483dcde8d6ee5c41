// Goal: several services share one cluster, each with its own load, router, SLO and figures.
#include "experiment/run/endpoints.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "experiment/compare.h"
#include "experiment/run/prepare.h"
#include "experiment/run/ranking.h"

namespace capstan::experiment {
namespace {

constexpr const char* kChat = R"(name: chat
    load: {generator: {rate: 4, input: 600, output: 150}, duration: 30m}
    model: Llama-3.1-8B
    gpu: H100
    slo: {ttft: 2s, tpot: 50ms}
    replicas: {min: 1, max: 6}
    router: {policy: least_loaded})";
constexpr const char* kCode = R"(name: code
    load:
      generator: {rate: {kind: spike, rate: 1, peak: 12, start: 10m, length: 10m}, input: 3000, output: 60}
      duration: 40m
    model: Llama-3.1-8B
    gpu: H100
    slo: {ttft: 3s, tpot: 80ms, attainment: 95%}
    replicas: {min: 1, max: 6})";

/// @param services  the text of each service
scenario::Scenario shared_cluster(const std::vector<std::string>& services, std::vector<std::string> sets = {}) {
  std::string text = "name: shared\nqueues:\n  - {name: all}\n  - {name: code, parent: all}\nservices:\n";
  for (const std::string& service : services) text += "  - " + service + "\n";
  text += R"(cluster:
  pools: [{name: h100, gpu_limit: 16, offerings: [{instance: p5.48xlarge}]}]
  existing: [{instance: p5.48xlarge, count: 1, pool: h100}]
policies:
  - {name: capstan, scale: capstan, place: gang, provision: group}
  - {name: queue, scale: queue_hpa, place: gang, provision: group}
)";
  auto scenario =
      scenario::parse_scenario(text, "shared.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
  EXPECT_TRUE(scenario.has_value()) << scenario.error().text();
  return std::move(*scenario);
}

RunResult checked_run(const scenario::Scenario& scenario) {
  PreparedRun prepared = prepare(scenario, scenario.policies.front(), scenario.seed);
  prepared.setup.verify = true;
  const Result<RunResult> result = simulate(prepared.setup);
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(result->invariants.total(), 0);
  return *result;
}

TEST(Endpoints, TheFiguresOfTheServicesAddUpToThoseOfTheRun) {
  const RunResult result = checked_run(shared_cluster({kChat, kCode}));
  ASSERT_EQ(result.services.size(), 2u);
  const ServiceFigures& chat = result.services[0];
  const ServiceFigures& code = result.services[1];
  EXPECT_EQ(chat.name, "chat");
  EXPECT_EQ(code.slo.attainment_ppm, 950'000);
  EXPECT_NEAR(static_cast<double>(chat.requests.arrived), 4 * 1800, 300);
  EXPECT_GT(code.requests.arrived, 1000);
  EXPECT_EQ(chat.requests.arrived + code.requests.arrived, result.requests.arrived);
  EXPECT_EQ(chat.requests.met + code.requests.met, result.requests.met);
  EXPECT_EQ(chat.delivered_tokens + code.delivered_tokens, result.tokens.delivered);
  EXPECT_EQ(chat.micro_usd + code.micro_usd + result.idle_node_micro_usd, result.total_micro_usd());
  EXPECT_GT(result.idle_node_micro_usd, 0) << "a node of eight GPUs is never filled";
  EXPECT_GT(code.ready_peak, 1) << "the spike needs more than one replica";
  EXPECT_GT(code.ttft.p99_us, chat.ttft.p99_us) << "its prompts are five times as long";
}

TEST(Endpoints, TheMinutesOfTheServicesAddUpToThoseOfTheRun) {
  const RunResult result = checked_run(shared_cluster({kChat, kCode}));
  ASSERT_EQ(result.services.size(), 2u);
  const std::vector<Minute>& chat = result.services[0].minutes;
  const std::vector<Minute>& code = result.services[1].minutes;
  ASSERT_EQ(chat.size(), result.minutes.size());
  ASSERT_EQ(code.size(), result.minutes.size());
  ReplicaCount ready = 0;
  for (std::size_t i = 0; i < chat.size(); ++i) {
    const Minute& whole = result.minutes[i];
    EXPECT_EQ(chat[i].arrived + code[i].arrived, whole.arrived) << i;
    EXPECT_EQ(chat[i].met + code[i].met, whole.met) << i;
    EXPECT_EQ(chat[i].waiting + code[i].waiting, whole.waiting) << i;
    EXPECT_EQ(chat[i].desired + code[i].desired, whole.desired) << i;
    EXPECT_EQ(chat[i].ready + code[i].ready, whole.ready) << i;
    EXPECT_EQ(std::max(chat[i].ttft_p99_us, code[i].ttft_p99_us), whole.ttft_p99_us) << i;
    ready += code[i].ready;
  }
  EXPECT_EQ(ready, result.services[1].ready_minutes);
}

TEST(Endpoints, ASingleServiceGivesTheSameResultInBothForms) {
  const scenario::Scenario listed = shared_cluster({kChat});
  const std::string chat = kChat;
  std::string text = "name: alone\n";
  const std::size_t load = chat.find("load:");
  const std::size_t rest = chat.find('\n', load);
  text += chat.substr(load, rest - load) + "\nservice:\n    name: chat" + chat.substr(rest) + R"(
cluster:
  pools: [{name: h100, gpu_limit: 16, offerings: [{instance: p5.48xlarge}]}]
  existing: [{instance: p5.48xlarge, count: 1, pool: h100}]
policies:
  - {name: capstan, scale: capstan, place: gang, provision: group}
)";
  const auto single = scenario::parse_scenario(text, "alone.yaml");
  ASSERT_TRUE(single.has_value()) << single.error().text();
  EXPECT_EQ(checked_run(listed).state_hash, checked_run(*single).state_hash);
  EXPECT_TRUE(checked_run(listed).services.empty());
}

TEST(Endpoints, AServiceBesideAnotherHasTheSameRequestsAsAlone) {
  const RunResult alone = checked_run(shared_cluster({kChat}));
  const RunResult shared = checked_run(shared_cluster({kChat, kCode}));
  EXPECT_EQ(shared.services[0].requests.arrived, alone.requests.arrived);
}

TEST(Endpoints, EqualSetupsGiveEqualResults) {
  const scenario::Scenario scenario = shared_cluster({kChat, kCode});
  EXPECT_EQ(checked_run(scenario).state_hash, checked_run(scenario).state_hash);
}

TEST(Endpoints, TheLimitOfAQueueHoldsItsServiceAndNotTheOther) {
  const RunResult free = checked_run(shared_cluster({kChat, kCode}));
  const RunResult limited =
      checked_run(shared_cluster({kChat, kCode}, {"services.code.queue=code", "queues.code.gpu_limit=1"}));
  EXPECT_EQ(limited.services[1].ready_peak, 1);
  EXPECT_LT(limited.services[1].attainment_ppm(), free.services[1].attainment_ppm());
  EXPECT_GE(limited.services[0].attainment_ppm() + 1000, free.services[0].attainment_ppm());
}

TEST(Endpoints, APolicyThatHoldsAllSlosComesFirst) {
  const Result<Comparison> comparison =
      compare(shared_cluster({kChat, kCode}, {"services.code.slo.attainment=99.9%"}), 1);
  ASSERT_TRUE(comparison.has_value());
  EXPECT_FALSE(comparison->constant_fleet) << "it is searched for one service";
  const auto holds = [&](std::size_t i) { return holds_slo(comparison->results[i], comparison->slo); };
  EXPECT_GE(holds(0), holds(1));
  for (const RunResult& result : comparison->results) {
    const bool all = result.services[0].holds_slo() && result.services[1].holds_slo();
    EXPECT_EQ(holds_slo(result, comparison->slo), all);
  }
}

}  // namespace
}  // namespace capstan::experiment
