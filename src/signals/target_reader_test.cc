// Reads pages of every engine and checks the signals, and checks that implausible values are refused.
#include "signals/target_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace capstan::signals {
namespace {

using std::chrono::seconds;

/// Returns for example "waiting=3 kv_usage_ppm=500000~", where '~' marks a stale value. A missing signal is listed only
/// if it has a reason other than no_metric, as "running:duplicate".
std::string text_of(const SubjectReadings& readings) {
  std::string text;
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    const SignalReading& reading = readings.signals[i];
    const bool present = reading.signal.state != model::Signal::State::missing;
    const bool explained = reading.why != MissingReason::none && reading.why != MissingReason::no_metric;
    if (!present && !explained) continue;
    text += (text.empty() ? "" : " ") + std::string(kSignals[i].name);
    if (present) text += "=" + std::to_string(reading.signal.value);
    if (reading.signal.state == model::Signal::State::stale) text += "~";
    if (explained) text += ":" + std::string(info(reading.why).code);
  }
  return text;
}

/// Returns all subjects of a target, for example "vllm [m] waiting=3 | [n] waiting=4".
std::string text_of(const TargetReadings& readings) {
  std::string text = readings.engine;
  for (const SubjectReadings& subject : readings.subjects) {
    text += (&subject == &readings.subjects.front() ? " [" : " | [") + subject.subject + "] " + text_of(subject);
  }
  if (readings.page != MissingReason::none)
    text += (text.empty() ? "! " : " ! ") + std::string(info(readings.page).code);
  return text;
}

struct Target {
  TargetReader reader{TargetOptions{}};
  Instant now{seconds(100)};

  explicit Target(TargetOptions options = {}) : reader(std::move(options)) {}

  /// Reads a page one second after the last one and returns the readings.
  std::string page(const std::string& text) {
    now = now + seconds(1);
    reader.read(text, Exposition::text, "pod", {now, 0});
    return text_of(reader.readings(now));
  }
  std::string after(Duration silence) {
    now = now + silence;
    return text_of(reader.readings(now));
  }
};

std::string buckets(const std::string& name, const std::string& labels, std::vector<int> counts) {
  const char* const bounds[] = {"0.1", "0.5", "+Inf"};
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text += name + "_bucket{" + labels + "le=\"" + bounds[i] + "\"} " + std::to_string(counts[i]) + "\n";
  }
  return text;
}

TEST(TargetReader, DetectsEnginesByTheirMetricNames) {
  const struct {
    const char* what;
    std::string page;
    const char* read;
  } rows[] = {
      {"vLLM, newest",
       "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 7.0\n"
       "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 5.0\n"
       "vllm:num_requests_waiting_by_reason{engine=\"0\",model_name=\"m\",reason=\"capacity\"} 3.0\n"
       "vllm:num_requests_waiting_by_reason{engine=\"0\",model_name=\"m\",reason=\"deferred\"} 2.0\n"
       "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.425\n"
       "vllm:prompt_tokens_total{engine=\"0\",model_name=\"m\"} 1.5e+06\n"
       "vllm:prompt_tokens_created{engine=\"0\",model_name=\"m\"} 1.7e+09\n"
       "vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"} 20\n"
       "vllm:num_preemptions_total{engine=\"0\",model_name=\"m\"} 1\n"
       "vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"m\"} 100\n"
       "vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"m\"} 40\n",
       "vllm [m] waiting=3 running=7 kv_usage_ppm=425000 prompt_tokens_total=1500000 generated_tokens_total=20 "
       "prefix_queries_total=100 prefix_hits_total=40 preemptions_total=1"},
      {"vLLM 0.8",
       "vllm:num_requests_running{model_name=\"m\"} 7\nvllm:num_requests_waiting{model_name=\"m\"} 5\n"
       "vllm:gpu_cache_usage_perc{model_name=\"m\"} 0.5\nvllm:gpu_prefix_cache_hits_total{model_name=\"m\"} 4\n",
       "vllm [m] waiting=5 running=7 kv_usage_ppm=500000 prefix_hits_total=4"},
      {"a metric under its old and its new name: the new one counts",
       "vllm:gpu_cache_usage_perc{model_name=\"m\"} 0.1\nvllm:kv_cache_usage_perc{model_name=\"m\"} 0.2\n",
       "vllm [m] kv_usage_ppm=200000"},
      {"relabelled by KServe", "kserve_vllm:num_requests_running{model_name=\"m\"} 1\n", "vllm [m] running=1"},
      {"SGLang",
       "sglang:num_running_reqs{model_name=\"m\"} 2\nsglang:num_queue_reqs{model_name=\"m\"} 1\n"
       "sglang:token_usage{model_name=\"m\"} 0.25\nsglang:prompt_tokens_total{model_name=\"m\"} 9\n",
       "sglang [m] waiting=1 running=2 kv_usage_ppm=250000 prompt_tokens_total=9"},
      {"SGLang behind its router", "sglang_num_running_reqs{model_name=\"m\"} 2\n", "sglang [m] running=2"},
      {"TensorRT-LLM",
       "trtllm_num_requests_waiting{model_name=\"m\",engine_type=\"trt\"} 4\n"
       "trtllm_kv_cache_utilization{model_name=\"m\",engine_type=\"trt\"} 0.75\n",
       "tensorrt-llm [m] waiting=4 kv_usage_ppm=750000"},
      {"Triton with TensorRT-LLM",
       "nv_trt_llm_request_metrics{model=\"m\",request_type=\"waiting\",version=\"1\"} 4\n"
       "nv_trt_llm_request_metrics{model=\"m\",request_type=\"scheduled\",version=\"1\"} 8\n"
       "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"fraction\",model=\"m\",version=\"1\"} 0.5\n"
       "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"max\",model=\"m\",version=\"1\"} 9000\n"
       "nv_inference_pending_request_count{model=\"m\",version=\"1\"} 12\n",
       "triton [m] waiting=4 running=8 kv_usage_ppm=500000"},
      {"TGI", "tgi_queue_size 3\ntgi_batch_current_size 17\ntgi_request_count 40\n", "tgi [] waiting=3 running=17"},
      {"NIM", "num_requests_running{model_name=\"m\"} 1\ngpu_cache_usage_perc{model_name=\"m\"} 0.9\n",
       "nim [m] running=1 kv_usage_ppm=900000"},
      {"DCGM exporter, two GPUs of one pod",
       "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",namespace=\"a\",pod=\"p\"} 30\n"
       "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",namespace=\"a\",pod=\"p\"} 90\n"
       "DCGM_FI_DEV_FB_USED{gpu=\"0\",namespace=\"a\",pod=\"p\"} 60\n"
       "DCGM_FI_DEV_FB_USED{gpu=\"1\",namespace=\"a\",pod=\"p\"} 60\n"
       "DCGM_FI_DEV_FB_FREE{gpu=\"0\",namespace=\"a\",pod=\"p\"} 20\n"
       "DCGM_FI_DEV_FB_FREE{gpu=\"1\",namespace=\"a\",pod=\"p\"} 20\n"
       "DCGM_FI_DEV_GPU_UTIL{gpu=\"2\",namespace=\"exporter\",pod=\"dcgm\",exported_namespace=\"b\",exported_pod=\"q\"}"
       " 5\n",
       "dcgm-exporter [a/p] duty_cycle_percent=90 memory_used_percent=75 | [b/q] duty_cycle_percent=5"},
      {"inference gateway, old names",
       "inference_extension_flow_control_queue_size{target_model_name=\"m\",priority=\"0\"} 2\n"
       "inference_extension_flow_control_queue_size{target_model_name=\"m\",priority=\"1\"} 3\n",
       "inference-gateway [m] gateway_waiting=5"},
      {"inference gateway, new names", "llm_d_epp_flow_control_queue_size{target_model_name=\"m\"} 2\n",
       "inference-gateway [m] gateway_waiting=2"},
      {"something else", "go_goroutines 12\nnode_load1 0.3\n", "! unknown_engine"},
      {"TensorRT-LLM's JSON page", "[{\"numQueuedRequests\": 3}]", "! bad_page"},
      {"an empty page", "", "! unknown_engine"},
  };
  for (const auto& row : rows) EXPECT_EQ(Target().page(row.page), row.read) << row.what;
}

TEST(TargetReader, CombinesTheRanksOfAnEngine) {
  EXPECT_EQ(Target().page("vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 7\n"
                          "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 5\n"
                          "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.2\n"
                          "vllm:kv_cache_usage_perc{engine=\"1\",model_name=\"m\"} 0.9\n"
                          "vllm:request_success_total{engine=\"0\",finished_reason=\"stop\",model_name=\"m\"} 10\n"
                          "vllm:request_success_total{engine=\"1\",finished_reason=\"length\",model_name=\"m\"} 4\n"),
            "vllm [m] running=12 kv_usage_ppm=900000 finished_total=14");
}

TEST(TargetReader, RefusesImplausibleValues) {
  const std::string good = "vllm:num_requests_waiting{model_name=\"m\"} 1\n";
  const struct {
    const char* value;
    const char* read;
  } rows[] = {
      {"NaN", "running:not_a_number"},
      {"+Inf", "running:not_a_number"},
      {"-1", "running:negative"},
      {"1e300", "running:out_of_range"},
      {"20000000", "running:out_of_range"},
      {"10000000", "running=10000000"},
      {"0", "running=0"},
      {"2.5", "running=3"},
      {"-0", "running=0"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Target().page(good + "vllm:num_requests_running{model_name=\"m\"} " + row.value + "\n"),
              std::string("vllm [m] waiting=1 ") + row.read)
        << row.value;
  }
  EXPECT_EQ(Target().page(good + "vllm:kv_cache_usage_perc{model_name=\"m\"} 42.5\n"),
            "vllm [m] waiting=1 kv_usage_ppm:out_of_range")
      << "a percentage is not guessed if a ratio is expected";
  EXPECT_EQ(Target().page(good + "vllm:kv_cache_usage_perc{model_name=\"m\"} 1.0000001\n"),
            "vllm [m] waiting=1 kv_usage_ppm=1000000");
  EXPECT_EQ(Target().page("vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3\n"
                          "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} NaN\n"),
            "vllm [m] running:not_a_number")
      << "a sum over only some of the ranks would be too small";
}

TEST(TargetReader, RefusesACounterAsAGauge) {
  const std::string running = "vllm:num_requests_running{model_name=\"m\"} 0\n";
  const std::string waiting = "# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting{model_name=\"m\"} 1\n";
  const auto declared = [&](const std::string& type) {
    return Target().page("# TYPE vllm:num_requests_running " + type + "\n" + running + waiting);
  };
  EXPECT_EQ(declared("gauge"), "vllm [m] waiting=1 running=0");
  EXPECT_EQ(declared("untyped"), "vllm [m] waiting=1 running=0");
  EXPECT_EQ(declared("counter"), "vllm [m] waiting=1 running:no_gauge");
  EXPECT_EQ(declared("histogram"), "vllm [m] waiting=1 running:no_gauge");
}

TEST(TargetReader, AcceptsDuplicatesOnlyWithEqualValues) {
  const std::string series = "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} ";
  const std::string turned = "vllm:num_requests_running{model_name=\"m\",engine=\"0\"} ";
  EXPECT_EQ(Target().page(series + "3\n" + turned + "3\n"), "vllm [m] running=3");
  EXPECT_EQ(Target().page(series + "3\n" + turned + "4\n"), "vllm [m] running:duplicate");
}

TEST(TargetReader, CountersKeepGrowingAcrossResets) {
  const auto tokens = [](const char* value, const char* more = "") {
    return "vllm:prompt_tokens_total{model_name=\"m\"} " + std::string(value) + "\n" + more;
  };
  Target target;
  EXPECT_EQ(target.page(tokens("100")), "vllm [m] prompt_tokens_total=100");
  EXPECT_EQ(target.page(tokens("130")), "vllm [m] prompt_tokens_total=130");
  EXPECT_EQ(target.page(tokens("20")), "vllm [m] prompt_tokens_total=150")
      << "the counter was reset and has counted 20 since";
  EXPECT_EQ(target.page(tokens("NaN")), "vllm [m] prompt_tokens_total=150:not_a_number");
  EXPECT_EQ(target.page(tokens("25")), "vllm [m] prompt_tokens_total=155");
  EXPECT_EQ(target.page(tokens("30", "vllm:prompt_tokens_total{model_name=\"m\",engine=\"1\"} 4\n")),
            "vllm [m] prompt_tokens_total=164")
      << "a new series started at zero";
}

TEST(TargetReader, DetectsARestartByTheProcessStartTime) {
  const auto page = [](int start, int tokens) {
    return "process_start_time_seconds " + std::to_string(start) + "\nvllm:prompt_tokens_total{model_name=\"m\"} " +
           std::to_string(tokens) + "\n";
  };
  Target target;
  target.page(page(1000, 100));
  EXPECT_EQ(target.page(page(2000, 110)), "vllm [m] prompt_tokens_total=210")
      << "the new process has counted 110, not 10";
  EXPECT_EQ(target.reader.readings(target.now).restarts, 1u);
}

TEST(TargetReader, DoesNotCountTwiceWhenAMetricIsRenamed) {
  Target target;
  target.page("vllm:gpu_prefix_cache_hits_total{model_name=\"m\"} 500\n");
  EXPECT_EQ(target.page("vllm:gpu_prefix_cache_hits_total{model_name=\"m\"} 510\n"
                        "vllm:prefix_cache_hits_total{model_name=\"m\"} 510\n"),
            "vllm [m] prefix_hits_total=500");
  EXPECT_EQ(target.page("vllm:prefix_cache_hits_total{model_name=\"m\"} 530\n"), "vllm [m] prefix_hits_total=520");
}

TEST(TargetReader, ComputesPercentilesOverTheWindow) {
  const std::string name = "vllm:time_to_first_token_seconds";
  const std::string m = "model_name=\"m\",";
  Target target;
  EXPECT_EQ(target.page(buckets(name, m, {100, 100, 100})), "vllm [m] ttft_p99_us:first_page");
  EXPECT_EQ(target.page(buckets(name, m, {100, 100, 100})), "vllm [m] ttft_p99_us:no_observations");
  EXPECT_EQ(target.page(buckets(name, m, {100, 200, 200})), "vllm [m] ttft_p99_us=496000")
      << "99 of 100 observations are at most 0.496 s";
  EXPECT_EQ(target.page(buckets(name, m, {0, 0, 10})), "vllm [m] ttft_p99_us=500000")
      << "the histogram was reset and has ten observations above the last bound";
  target.after(seconds(70));
  EXPECT_EQ(target.page(buckets(name, m, {0, 10, 20})), "vllm [m] ttft_p99_us:first_page")
      << "after a gap longer than the window the observations cannot be dated";
  EXPECT_EQ(target.page(buckets(name, m, {100, 110, 120})), "vllm [m] ttft_p99_us=99000");
}

TEST(TargetReader, ComputesTheShareOfLateFirstTokens) {
  const std::string name = "vllm:time_to_first_token_seconds";
  const std::string m = "model_name=\"m\",";
  TargetOptions options;
  options.ttft_bound = std::chrono::milliseconds(300);
  Target target(options);
  EXPECT_EQ(target.page(buckets(name, m, {0, 0, 0})), "vllm [m] ttft_p99_us:first_page ttft_late_ppm:first_page");
  EXPECT_EQ(target.page(buckets(name, m, {80, 96, 100})), "vllm [m] ttft_p99_us=500000 ttft_late_ppm=120000")
      << "half of the 16 between 0.1 and 0.5 s are late, and so are the 4 above";
  target.after(seconds(50));
  EXPECT_EQ(target.page(buckets(name, m, {80, 96, 100})), "vllm [m] ttft_p99_us=500000 ttft_late_ppm=120000");
  target.after(seconds(50));
  EXPECT_EQ(target.page(buckets(name, m, {80, 96, 100})),
            "vllm [m] ttft_p99_us:no_observations ttft_late_ppm:no_observations");
}

TEST(TargetReader, ComputesTheShareOfSlowAnswers) {
  const std::string name = "vllm:request_time_per_output_token_seconds";
  const std::string m = "model_name=\"m\",";
  TargetOptions options;
  options.tpot_bound = std::chrono::milliseconds(100);
  Target target(options);
  EXPECT_EQ(target.page(buckets(name, m, {0, 0, 0})), "vllm [m] tpot_late_ppm:first_page tpot_p99_us:first_page");
  EXPECT_EQ(target.page(buckets(name, m, {198, 200, 200})), "vllm [m] tpot_late_ppm=10000 tpot_p99_us=100000");
}

TEST(TargetReader, AddsTheHistogramsOfRanks) {
  const std::string name = "vllm:time_to_first_token_seconds";
  const auto page = [&](std::vector<int> a, std::vector<int> b) {
    return buckets(name, "engine=\"0\",model_name=\"m\",", a) + buckets(name, "engine=\"1\",model_name=\"m\",", b);
  };
  Target target;
  target.page(page({0, 0, 0}, {0, 0, 0}));
  EXPECT_EQ(target.page(page({90, 90, 90}, {0, 10, 10})), "vllm [m] ttft_p99_us=460000");
}

TEST(TargetReader, RefusesInvalidBuckets) {
  const std::string name = "vllm:time_to_first_token_seconds";
  const std::string m = "model_name=\"m\",";
  const std::string bad[] = {buckets(name, m, {5, 6}), buckets(name, m, {5, 4, 6}), buckets(name, m, {-1, 4, 6}),
                             name + "_bucket{model_name=\"m\"} 3\n", name + "_bucket{model_name=\"m\",le=\"x\"} 3\n"};
  for (const std::string& page : bad) EXPECT_EQ(Target().page(page), "vllm [m] ttft_p99_us:bad_histogram") << page;
}

TEST(TargetReader, ValuesBecomeStaleAndThenMissing) {
  const std::string page = "vllm:num_requests_running{model_name=\"m\"} 3\n";
  Target target;
  EXPECT_EQ(text_of(target.reader.readings(target.now)), "! never_scraped");
  target.page(page);
  EXPECT_EQ(target.after(seconds(3)), "vllm [m] running=3");
  EXPECT_EQ(target.after(seconds(1)), "vllm [m] running=3~");
  target.reader.failed(MissingReason::scrape_failed);
  EXPECT_EQ(target.after(seconds(26)).substr(0, 34), "vllm [m] waiting:scrape_failed run");
  EXPECT_EQ(target.reader.readings(target.now).single()[SignalName::running].signal.state, model::Signal::State::stale);
  const SignalReading gone = [&] {
    target.after(seconds(1));
    return target.reader.readings(target.now).single()[SignalName::running];
  }();
  EXPECT_EQ(gone.signal, (model::Signal{model::Signal::State::missing, 0, seconds(31)})) << "missing is never zero";
  EXPECT_EQ(gone.why, MissingReason::scrape_failed);
  EXPECT_EQ(target.page(page), "vllm [m] running=3");
}

TEST(TargetReader, ABadLineDiscardsThePage) {
  Target target;
  target.page("vllm:num_requests_running{model_name=\"m\"} 3\n");
  target.page("vllm:num_requests_running{model_name=\"m\"} 0\nvllm:num_requests_waiting{model_name=\"m\"} x\n");
  const TargetReadings readings = target.reader.readings(target.now);
  EXPECT_EQ(readings.page, MissingReason::bad_page);
  EXPECT_EQ(readings.error->text().substr(0, 20), "pod:2:43: not a valu");
  EXPECT_EQ(readings.single()[SignalName::running].signal, model::Signal::measured(3, seconds(1)));
}

TEST(TargetReader, UsesTimestampsOnThePage) {
  TargetReader reader{TargetOptions{}};
  const Instant now{seconds(100)};
  reader.read("vllm:num_requests_running{model_name=\"m\"} 3 1700000000000\n", Exposition::text, "pod",
              {now, 1'700'000'002'000});
  EXPECT_EQ(reader.readings(now).single()[SignalName::running].signal, model::Signal::measured(3, seconds(2)));
}

TEST(TargetReader, RefusesThePageOfAnotherPodOrModel) {
  const std::string page = "vllm:num_requests_running{model_name=\"m\",pod=\"a\"} 3\n";
  const auto with = [](std::vector<std::string> models, std::string pod) {
    TargetOptions options;
    options.models = std::move(models);
    options.pod = std::move(pod);
    return options;
  };
  EXPECT_EQ(Target(with({"m"}, "a")).page(page), "vllm [m] running=3");
  EXPECT_EQ(Target(with({"n", "m"}, "")).page(page), "vllm [m] running=3");
  EXPECT_EQ(Target(with({"n"}, "")).page(page), "! other_model");
  EXPECT_EQ(Target(with({}, "b")).page(page), "! other_pod");
  Target target(with({}, "a"));
  target.page(page);
  EXPECT_EQ(target.page("vllm:num_requests_running{model_name=\"m\",pod=\"b\"} 0\n").substr(0, 40),
            "vllm [m] waiting:other_pod running=3:oth")
      << "the last value of the expected pod stays and grows old";
}

TEST(TargetReader, ReportsTheModelsOfAServerSeparately) {
  const std::string page =
      "vllm:num_requests_running{model_name=\"a\"} 3\nvllm:num_requests_running{model_name=\"b\"} 4\n";
  EXPECT_EQ(Target().page(page), "vllm [a] running=3 | [b] running=4");
  Target target;
  target.page(page);
  EXPECT_EQ(target.reader.readings(target.now).single()[SignalName::running].why, MissingReason::several_models);
  TargetOptions one;
  one.models = {"b"};
  EXPECT_EQ(Target(one).page(page), "vllm [b] running=4");
}

TEST(TargetReader, RefusesPagesWithTooManySeries) {
  TargetOptions options;
  options.cells_max = 10;
  std::string page;
  for (int i = 0; i < 11; ++i) page += "tgi_queue_size{n=\"" + std::to_string(i) + "\"} 1\n";
  EXPECT_EQ(Target(options).page(page), "! too_many_series");
}

TEST(TargetReader, ReadsACustomServer) {
  MetricText row;
  row.signal = "waiting";
  row.metric = "my_queue";
  row.kind = "gauge";
  row.where = "state=queued";
  const MetricCatalog catalog = MetricCatalog::custom(std::vector{row}, "scaler").value();
  TargetOptions options;
  options.catalog = &catalog;
  options.engine = 0;
  EXPECT_EQ(Target(options).page("my_queue{state=\"queued\"} 4\nmy_queue{state=\"done\"} 9\n"), "custom [] waiting=4");
  EXPECT_EQ(Target(options).page("other 1\n"), "custom ! no_metric");
}

TEST(TargetReader, SumsTheTimesOfRequestsByPhase) {
  Target vllm;
  EXPECT_EQ(vllm.page("vllm:request_queue_time_seconds_bucket{le=\"+Inf\",engine=\"0\",model_name=\"m\"} 4.0\n"
                      "vllm:request_queue_time_seconds_count{engine=\"0\",model_name=\"m\"} 4.0\n"
                      "vllm:request_queue_time_seconds_sum{engine=\"0\",model_name=\"m\"} 1.5\n"
                      "vllm:request_prefill_time_seconds_sum{engine=\"0\",model_name=\"m\"} 0.8\n"
                      "vllm:request_decode_time_seconds_sum{engine=\"0\",model_name=\"m\"} 40.25\n"
                      "vllm:nixl_xfer_time_seconds_count{engine=\"0\",model_name=\"m\"} 8.0\n"
                      "vllm:nixl_xfer_time_seconds_sum{engine=\"0\",model_name=\"m\"} 0.16\n"),
            "vllm [m] queue_us_total=1500000 prefill_us_total=800000 decode_us_total=40250000 "
            "transfer_us_total=160000 transfers_total=8 queue_p99_us:first_page");

  // SGLang exports neither prefill nor decode. Prefill is its time to first token without the queue, and decode is the
  // rest of the whole request.
  const auto sglang_page = [](const char* queue, const char* ttft, const char* e2e) {
    const std::string labels = "{engine_type=\"unified\",model_name=\"m\",tp_rank=\"0\"} ";
    return "sglang:queue_time_seconds_sum" + labels + queue + "\nsglang:time_to_first_token_seconds_sum" + labels +
           ttft + "\nsglang:e2e_request_latency_seconds_sum" + labels + e2e + "\n";
  };
  Target sglang;
  EXPECT_EQ(sglang.page(sglang_page("1.0", "3.0", "20.0")),
            "sglang [m] queue_us_total=1000000 prefill_us_total=2000000 decode_us_total=17000000 ttft_us_total=3000000 "
            "e2e_us_total=20000000");
  EXPECT_EQ(sglang.page(sglang_page("2.0", "3.5", "20.0")),
            "sglang [m] queue_us_total=2000000 prefill_us_total=2000000 decode_us_total=17000000 ttft_us_total=3500000 "
            "e2e_us_total=20000000")
      << "a request has left the queue, and another one has its first token: no sum falls";

  // NIM does not export its queue, and TGI does not export the first token.
  Target nim;
  EXPECT_EQ(nim.page("num_requests_waiting{model_name=\"m\"} 0\ntime_to_first_token_seconds_sum{model_name=\"m\"} 3\n"
                     "e2e_request_latency_seconds_sum{model_name=\"m\"} 20\n"),
            "nim [m] waiting=0 prefill_us_total=3000000 decode_us_total=17000000 ttft_us_total=3000000 "
            "e2e_us_total=20000000");
  Target tgi;
  EXPECT_EQ(tgi.page("tgi_queue_size 1\ntgi_request_queue_duration_sum 2\ntgi_request_duration_sum 12\n"),
            "tgi [] waiting=1 queue_us_total=2000000 decode_us_total=10000000 e2e_us_total=12000000");
  Target triton;
  EXPECT_EQ(triton.page("nv_inference_request_success{model=\"m\"} 4\n"
                        "nv_inference_first_response_histogram_ms_sum{model=\"m\"} 800\n"
                        "nv_inference_request_duration_us{model=\"m\"} 9000000\n"),
            "triton [m] finished_total=4 prefill_us_total=800000 decode_us_total=8200000 ttft_us_total=800000 "
            "e2e_us_total=9000000");

  Target transfers;
  EXPECT_EQ(transfers.page("sglang:per_stage_req_latency_seconds_sum{model_name=\"m\",stage=\"prefill_forward\"} 7.0\n"
                           "sglang:per_stage_req_latency_seconds_sum{model_name=\"m\",stage=\"prefill_transfer_kv_"
                           "cache\"} 0.5\n"
                           "sglang:per_stage_req_latency_seconds_count{model_name=\"m\",stage=\"prefill_transfer_kv_"
                           "cache\"} 2.0\n"),
            "sglang [m] transfer_us_total=500000 transfers_total=2");
}

TEST(TargetReader, FillsTheFieldsOfAReplica) {
  Target target;
  target.page("vllm:num_requests_running{model_name=\"m\"} 3\nvllm:kv_cache_usage_perc{model_name=\"m\"} 0.5\n");
  const model::ReplicaSignals signals = replica_signals(target.reader.readings(target.now).single());
  EXPECT_EQ(signals.running, model::Signal::measured(3));
  EXPECT_EQ(signals.kv_usage_ppm, model::Signal::measured(500'000));
  EXPECT_EQ(signals.waiting.state, model::Signal::State::missing);
}

RC_GTEST_PROP(TargetReader, TotalsNeverFall, ()) {
  Target target;
  std::int64_t last = 0;
  for (const std::uint16_t raw : *rc::gen::container<std::vector<std::uint16_t>>(rc::gen::arbitrary<std::uint16_t>())) {
    target.page("process_start_time_seconds " + std::to_string(1 + raw % 3) +
                "\nvllm:prompt_tokens_total{model_name=\"m\"} " + std::to_string(raw) + "\n");
    const std::int64_t total =
        target.reader.readings(target.now).single()[SignalName::prompt_tokens_total].signal.value;
    RC_ASSERT(total >= last);
    RC_ASSERT(total >= raw);
    last = total;
  }
}

TEST(TargetReader, ALatencyEndsWithTheObservationsInItsWindow) {
  const std::string name = "vllm:time_to_first_token_seconds";
  const std::string m = "model_name=\"m\",";
  TargetOptions options;
  options.window = std::chrono::milliseconds(13'125);  // with a page every 15 s it covers only the last page
  options.stale_after = options.missing_after = seconds(45);
  Target target(options);
  target.page(buckets(name, m, {0, 0, 0}));
  target.after(seconds(14));
  EXPECT_EQ(target.page(buckets(name, m, {0, 100, 100})), "vllm [m] ttft_p99_us=496000");
  target.after(seconds(14));
  EXPECT_EQ(target.page(buckets(name, m, {100, 200, 200})), "vllm [m] ttft_p99_us=99000") << "only this page counts";
  target.reader.failed(MissingReason::scrape_failed);
  EXPECT_EQ(target.after(seconds(29)).substr(0, 8), "vllm [m]");
  EXPECT_EQ(target.page(buckets(name, m, {100, 300, 300})), "vllm [m] ttft_p99_us=496000")
      << "one missing page is no gap: the observations in between count";
  target.after(seconds(14));
  EXPECT_EQ(target.page(buckets(name, m, {100, 300, 300})), "vllm [m] ttft_p99_us:no_observations")
      << "an idle engine has no latency, so the last value is dropped";
}

}  // namespace
}  // namespace capstan::signals
