// Goal: a scenario may have several services, each with its own load and SLO, and a tree of queues that limits them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/table.h"
#include "scenario/scenario.h"

namespace capstan::scenario {
namespace {

constexpr const char* kTwo = R"(name: two
queues:
  - {name: all, gpu_limit: 16}
  - {name: chat, parent: all, gpu_limit: 8}
services:
  - name: chat
    load: {generator: {rate: 2, input: 200, output: 50}, duration: 5m}
    model: Llama-3.1-8B
    gpu: H100
    slo: {ttft: 1s}
    replicas: {min: 1, max: 4}
    queue: chat
  - name: code
    load: {generator: {rate: 1, input: 2000, output: 100}, duration: 10m}
    slo: {ttft: 3s}
    queue: all
    router: {policy: round_robin}
    roles:
      prefill: {}
      decode: {}
      conversion: 5s
    model: Llama-3.1-8B
    gpu: H100
    replicas: {min: 1, max: 4}
cluster:
  pools:
    - {name: h100, gpu_limit: 16, offerings: [{instance: p5.48xlarge}]}
policies:
  - {name: a, scale: capstan, place: gang, provision: group}
)";

ScenarioResult two(std::vector<std::string> sets) {
  return parse_scenario(kTwo, "s.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
}

std::string outcome_of_two(std::vector<std::string> sets) {
  const ScenarioResult scenario = two(std::move(sets));
  return scenario ? "possible" : scenario.error().text();
}

TEST(Services, AReplicaMayBeAPipelineOfStages) {
  const ScenarioResult scenario =
      two({"services.chat.model=Llama-3.3-70B", "services.chat.dtype=fp8", "services.chat.tensor_parallel=4",
           "services.chat.pipeline_parallel=2", "services.chat.pods_per_replica=2"});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const RoleSpec& chat = scenario->endpoints[0].roles[0];
  EXPECT_EQ(chat.engine->stages, 2);
  EXPECT_EQ(chat.engine->model, "Llama-3.3-70B");
  const model::Workload& workload = scenario->catalog->services[0].workload;
  EXPECT_EQ(workload.gpus_per_replica, 8) << "all GPUs of the replica";
  EXPECT_EQ(workload.model, "Llama-3.3-70B with PP 2") << "no policy takes the row of eight GPUs without stages";
  EXPECT_EQ(scenario->catalog->services[1].workload.model, "Llama-3.1-8B");
  EXPECT_NE(outcome_of_two({"services.chat.pipeline_parallel=2", "services.chat.pods_per_replica=3"})
                .find("2 GPUs cannot be divided over 3 pods"),
            std::string::npos);
  EXPECT_NE(outcome_of_two({"services.chat.pipeline_parallel=65"}).find("pipeline_parallel"), std::string::npos);
}

TEST(Services, EachIsAnEndpointWithItsPartOfTheCatalog) {
  const ScenarioResult scenario = two({"services.code.slo.attainment=95%"});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  ASSERT_EQ(scenario->endpoints.size(), 2u);
  const EndpointSpec& chat = scenario->endpoints[0];
  const EndpointSpec& code = scenario->endpoints[1];
  EXPECT_EQ(chat.first.value, 0u);
  EXPECT_EQ(code.first.value, 1u);
  EXPECT_TRUE(code.is_disaggregated());
  EXPECT_EQ(code.load.duration, std::chrono::minutes(10));
  EXPECT_EQ(code.fleet.router.kind, sim::RouterKind::round_robin);
  const std::vector<model::Service>& services = scenario->catalog->services;
  ASSERT_EQ(services.size(), 3u);
  EXPECT_EQ(services[0].name, "chat");
  EXPECT_EQ(services[1].name, "code prefill");
  EXPECT_EQ(services[2].prefill_service, model::ServiceId{1});
  EXPECT_EQ(services[0].slo.attainment_ppm, 990'000);
  EXPECT_EQ(services[2].slo.attainment_ppm, 950'000);
  EXPECT_EQ(services[0].workload.queue, model::QueueId{1});
  EXPECT_EQ(services[2].workload.queue, model::QueueId{0});
  EXPECT_EQ(services[0].role_limits.conversion, Duration{}) << "conversion is a setting of code alone";
  EXPECT_EQ(scenario->catalog->queues[1].parent, model::QueueId{0});
  EXPECT_EQ(scenario->catalog->queues[1].gpus.limit, whole_gpus(8));
  EXPECT_EQ(scenario->policies.front().policies.scale.size(), 3u);
}

TEST(Services, MayHaveDifferentScalePolicies) {
  const ScenarioResult scenario =
      two({"policies.a.scale={services: {chat: {policy: fixed, replicas: 2}, "
           "code: {prefill: capstan, decode: fixed}}}"});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const auto& scale = scenario->policies.front().policies.scale;
  ASSERT_EQ(scale.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<decide::scale::Fixed>(scale[0]));
  EXPECT_TRUE(std::holds_alternative<decide::scale::Capstan>(scale[1]));
  EXPECT_TRUE(std::holds_alternative<decide::scale::Fixed>(scale[2]));
}

TEST(Services, MayEachHaveStepTimesOfTheUser) {
  const std::string path = testing::TempDir() + "services_step_times.csv";
  const std::string rows(engine::bundled_engines_csv());
  const std::size_t header = rows.find('\n') + 1;
  const std::string first = rows.substr(header, rows.find('\n', header) + 1 - header);
  std::ofstream(path) << rows.substr(0, header) << "Mine,h100_sxm,1," << first.substr(first.find("bfloat16"));
  const ScenarioResult scenario =
      two({"services.chat.step_times=" + path, "services.chat.model=Mine", "services.code.step_times=" + path});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  EXPECT_EQ(scenario->endpoints[0].roles[0].engine->model, "Mine");
  EXPECT_EQ(scenario->endpoints[0].roles[0].engine->tp, 1);
  EXPECT_EQ(scenario->endpoints[1].roles[0].engine->model, "Llama-3.1-8B");
}

TEST(Services, ErrorsNameTheirPlace) {
  const struct {
    const char* teaches;
    const char* set;
    const char* error;
  } rows[] = {
      {"names differ", "services.1.name=chat", "--set services.1.name=chat: services: \"chat\" is given twice"},
      {"each has a name", "services.1.name=~", "services.1 lacks \"name\""},
      {"each has a load", "services.1.load=~", "services.code lacks \"load\""},
      {"the load stands in the service", "load={profile: azure-hour}",
       "scenario: found load next to services, expected it in each service"},
      {"a load needs an end", "services.chat.load.duration=~",
       "services.chat.load never ends, expected services.chat.load.duration (or duration of the whole run)"},
      {"errors name the service", "services.code.router.policy=fast", "services.code.router.policy: found \"fast\""},
      {"what is impossible is reported at its service", "services.code.tensor_parallel=1024", "services.code"},
      {"an unknown queue", "services.chat.queue=absent",
       "services.chat.queue: found \"absent\", expected one of all, chat"},
      {"an unknown parent", "queues.all.parent=chat",
       "queues.all.parent: found \"chat\", expected the name of a queue that is listed above it"},
      {"queues of one name", "queues.1.name=all", "queues: \"all\" is given twice"},
      {"minima above the limit of a queue", "queues.all.gpu_limit=2",
       "--set queues.all.gpu_limit=2: queues.all.gpu_limit: found 2, but the minimum replicas of its services need 3 "
       "GPUs, expected at least 3 or lower minima"},
      {"a minimum above the limit of its queue", "services.chat.replicas={min: 9, max: 9}",
       "queues.chat.gpu_limit: found 8, but the minimum replicas of its services need 9 GPUs"},
      {"a quota, which has no effect yet", "queues.all.gpu_quota=4",
       "queues.all.gpu_quota: found a right that no placement policy honours yet, expected only name, parent and "
       "gpu_limit"},
      {"a negative limit", "queues.all.gpu_limit=-1", "queues.all.gpu_limit: found \"-1\", expected 0 to 1000000"},
      {"a negative duration", "services.chat.load.duration=-5m",
       "services.chat.load.duration: found \"-5m\", expected 1s to 8784h"},
      {"an SLO of 0", "services.code.slo.ttft=0s", "services.code.slo.ttft: an SLO of 0 can never be met"},
      {"a negative rate", "services.chat.load={generator: {rate: -2, input: 9, output: 9}, duration: 5m}",
       "services.chat.load.generator.rate: found \"-2\", expected requests per second"},
      {"a negative SLO", "services.code.slo.ttft=-1s", "services.code.slo.ttft: found \"-1s\", expected 0s to 24h"},
      {"a priority out of bounds", "services.chat.priority=1000001",
       "services.chat.priority: found \"1000001\", expected -1000000 to 1000000"},
      {"no service", "services=[]", "scenario.services: found an empty list"},
      {"foresight knows one service", "bound=true", "but the lower bound is computed for one service"},
      {"a scaler for each service", "policies.a.scale={services: {chat: capstan}}", "scale.services lacks \"code\""},
      {"a closed loop needs the end of the run", "services.chat.load={closed_loop: {concurrency: 2}, duration: 5m}",
       "services.chat.load: found a closed loop next to other services, expected duration of the whole run"},
  };
  for (const auto& row : rows) {
    const std::string found = outcome_of_two({row.set});
    EXPECT_NE(found.find(row.error), found.npos) << row.teaches << ": " << found;
  }
}

TEST(Services, AThousandAreRead) {
  const auto outcome = [](int count) {
    std::string services = "services=[";
    for (int i = 0; i < count; ++i) {
      services += fmt::format(
          "{}{{name: s{}, model: Llama-3.1-8B, gpu: H100, slo: {{ttft: 1s}}, replicas: {{min: 0, max: 1}}, "
          "load: {{profile: azure-hour}}}}",
          i == 0 ? "" : ", ", i);
    }
    return outcome_of_two({services + "]"});
  };
  EXPECT_NE(outcome(1001).find("more than 1000 services"), std::string::npos);
  EXPECT_EQ(outcome(1000).find("more than"), std::string::npos);
}

TEST(Services, ATraceOfTheCommandLineBelongsToOneService) {
  const ScenarioResult scenario =
      parse_scenario(kTwo, "s.yaml", {.sets = {}, .trace = "x.csv", .seed = {}, .policies = {}});
  ASSERT_FALSE(scenario.has_value());
  EXPECT_EQ(scenario.error().text(),
            "--trace: the scenario has several services, expected --set services.NAME.load.trace=FILE");
}

}  // namespace
}  // namespace capstan::scenario
