#include "operator/facts/signal_page.h"

#include <gtest/gtest.h>

#include <array>

namespace capstan::op {
namespace {

constexpr std::string_view kPage =
    "vllm:num_requests_waiting{model_name=\"llama\"} 12\n"
    "vllm:num_requests_running{model_name=\"llama\"} 64\n"
    "vllm:kv_cache_usage_perc{model_name=\"llama\"} 0.31\n"
    "process_cpu_seconds_total 100\n"
    "vllm:num_preemptions_total{model_name=\"llama\"} 3\n";

PageFacts facts_of(std::string_view page, ExpectedPage expected = {}) {
  expected.source = "chat-0";
  const MetricsPage one{.text = page, .at = {std::chrono::seconds(100)}};
  return page_facts({&one, 1}, expected);
}

TEST(SignalPage, AHealthyPageGivesEngineModelAndLoad) {
  const PageFacts facts = facts_of(kPage);
  EXPECT_EQ(facts.pod.engine, "vllm");
  EXPECT_EQ(facts.pod.models, std::vector<std::string>{"llama"});
  EXPECT_EQ(facts.pod.metrics, 5u);
  EXPECT_TRUE(facts.pod.lost.empty());
  EXPECT_TRUE(facts.unusable.empty());
  EXPECT_EQ(facts.load.running, 64);
  EXPECT_EQ(facts.load.waiting, 12);
  EXPECT_EQ(facts.load.kv_usage_ppm, 310'000);
  EXPECT_EQ(facts.load.cpu_percent, std::nullopt) << "one page shows no rate";
}

/// A page with one fault, and the first stage that is broken by it.
struct Fault {
  const char* name;
  const char* page;
  explain::SignalStage stage;
  const char* text;  ///< text that the explanation of the stage must contain
};

TEST(SignalPage, EachFaultOfAPageBreaksItsStage) {
  const Fault rows[] = {
      {"NotTheTextFormat", "{\"requests\": 3}\n", explain::SignalStage::page, "chat-0:1"},
      {"ASidecar", "envoy_cluster_upstream_rq 3\n", explain::SignalStage::names, "no metric of a known engine"},
      {"AnEmptyPage", "", explain::SignalStage::names, "no metric of a known engine"},
      {"TheMetricHasANewName",
       "vllm:num_requests_waiting{model_name=\"llama\"} 1\nvllm:num_requests_running{model_name=\"llama\"} 2\n"
       "vllm:kv_cache_usage_ratio{model_name=\"llama\"} 0.2\n",
       explain::SignalStage::names,
       "no metric for the signal KV cache use; Capstan knows the names vllm:kv_cache_usage_perc"},
      {"AnotherModel",
       "vllm:num_requests_waiting{model_name=\"qwen\"} 1\nvllm:num_requests_running{model_name=\"qwen\"} 2\n"
       "vllm:kv_cache_usage_perc{model_name=\"qwen\"} 0.2\n",
       explain::SignalStage::model, "about model qwen, expected llama"},
      {"AnotherPod",
       "vllm:num_requests_waiting{model_name=\"llama\",pod=\"search-3\"} 1\n"
       "vllm:num_requests_running{model_name=\"llama\"} 2\nvllm:kv_cache_usage_perc{model_name=\"llama\"} 0.2\n",
       explain::SignalStage::model, "names pod search-3"},
      {"NotANumber",
       "vllm:num_requests_waiting{model_name=\"llama\"} NaN\nvllm:num_requests_running{model_name=\"llama\"} 2\n"
       "vllm:kv_cache_usage_perc{model_name=\"llama\"} 0.2\n",
       explain::SignalStage::snapshot, "chat-0: waiting requests: "},
  };
  for (const Fault& row : rows) {
    const PageFacts found = facts_of(row.page, {.source = "", .model = "llama", .engine = "", .pod = "chat-0"});
    explain::SignalFacts facts;
    facts.model = "llama";
    facts.pods = {found.pod};
    facts.unusable = found.unusable;
    const explain::SignalPath path = signal_path(facts);
    ASSERT_TRUE(path.broken.has_value()) << row.name;
    EXPECT_EQ(explain::name(*path.broken), explain::name(row.stage)) << row.name << '\n' << text(path);
    EXPECT_TRUE(text(path).contains(row.text)) << row.name << '\n' << text(path);
  }
}

TEST(SignalPage, ALostSignalNamesTheFieldThatTheSchemaHas) {
  const PageFacts facts = facts_of(
      "vllm:num_requests_waiting{model_name=\"llama\"} 1\n"
      "vllm:num_requests_running{model_name=\"llama\"} 2\n");
  ASSERT_EQ(facts.pod.lost.size(), 1u);
  EXPECT_EQ(facts.pod.lost[0].signal, "KV cache use");
  EXPECT_EQ(facts.pod.lost[0].custom_field, "kvUsage");
}

TEST(SignalPage, ANewNameIsFoundBySharedWords) {
  const std::vector<std::string> page = {"vllm:kv_cache_usage_ratio", "vllm:num_requests_running", "up"};
  const std::vector<std::string> known = {"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"};
  EXPECT_EQ(similar_metric(page, known), "vllm:kv_cache_usage_ratio");
  const std::vector<std::string> other = {"up", "vllm:cache_config_info"};
  EXPECT_EQ(similar_metric(other, known), "");
}

TEST(SignalPage, TwoPagesShowCpuTimeAndPreemptions) {
  const std::string later =
      "vllm:num_requests_waiting{model_name=\"llama\"} 0\nvllm:num_requests_running{model_name=\"llama\"} 8\n"
      "vllm:kv_cache_usage_perc{model_name=\"llama\"} 0.31\nprocess_cpu_seconds_total 101.98\n"
      "vllm:num_preemptions_total{model_name=\"llama\"} 7\n";
  const std::array<MetricsPage, 2> pages = {MetricsPage{.text = kPage, .at = {std::chrono::seconds(100)}},
                                            MetricsPage{.text = later, .at = {std::chrono::seconds(102)}}};
  const PageFacts facts = page_facts(pages, {.source = "chat-0", .model = "", .engine = "", .pod = ""});
  EXPECT_EQ(facts.load.cpu_percent, 99);
  EXPECT_EQ(facts.load.preemptions, 4);
  EXPECT_EQ(diagnose(facts.load).part, explain::SlowPart::cpu);
}

}  // namespace
}  // namespace capstan::op
