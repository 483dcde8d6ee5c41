#include "emulator/exposition.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string_view>

#include "engine/step_model.h"

namespace capstan::emulator {
namespace {

constexpr double kNanoseconds = 1e-9;

/// Formats a number as Python formats a float, because the metrics pages of real engines have this format.
std::string number(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

std::string escaped(std::string_view label) {
  std::string text;
  for (const char c : label) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? std::string_view("\\n") : std::string_view(&c, 1);
  }
  return text;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Writes metrics with one name prefix. Labels are sorted by name, as in prometheus_client. `before` and `after` are
/// the common labels; a row's own label (such as `le`) goes between them.
class Page {
 public:
  Page(std::string_view prefix, std::string before, std::string after)
      : prefix_(prefix), before_(std::move(before)), after_(std::move(after)) {}

  void write_head(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(text_), "# HELP {0}{1} {2}\n# TYPE {0}{1} {3}\n", prefix_, name, help, type);
  }
  void write_row(std::string_view name, double value, std::string_view label = "") {
    fmt::format_to(std::back_inserter(text_), "{}{}{{{}{}{}}} {}\n", prefix_, name, before_, label, after_,
                   number(value));
  }
  void gauge(std::string_view name, double value, std::string_view help) {
    write_head(name, "gauge", help);
    write_row(name, value);
  }
  void counter(std::string_view name, std::int64_t value, std::string_view help) {
    write_head(name, "counter", help);
    write_row(name, static_cast<double>(value));
  }
  void histogram(std::string_view name, const Histogram& values, double unit, std::string_view help) {
    write_head(name, "histogram", help);
    const std::string bucket = fmt::format("{}_bucket", name);
    std::int64_t below = 0;
    for (std::size_t i = 0; i < values.bounds().size(); ++i) {
      below += values.in_bucket(i);
      // The bound is divided by 1e9 and not multiplied by 1e-9, so that 60 ms are 0.06 and not 0.060000000000000005.
      const double bound = unit == kNanoseconds ? static_cast<double>(values.bounds()[i]) / 1e9
                                                : static_cast<double>(values.bounds()[i]);
      write_row(bucket, static_cast<double>(below), fmt::format("le=\"{}\",", number(bound)));
    }
    write_row(bucket, static_cast<double>(values.count()), "le=\"+Inf\",");
    write_row(fmt::format("{}_count", name), static_cast<double>(values.count()));
    write_row(fmt::format("{}_sum", name), static_cast<double>(values.sum()) * unit);
  }
  std::string take() { return std::move(text_); }
  std::string& text() { return text_; }

 private:
  std::string_view prefix_;
  std::string before_;
  std::string after_;
  std::string text_;
};

void write_vllm_gauges(Page& page, const sim::ReplicaSample& e) {
  page.gauge("num_requests_running", static_cast<double>(e.running), "Number of requests in execution batches.");
  page.gauge("num_requests_waiting", static_cast<double>(e.waiting), "Number of requests waiting to be processed.");
  page.gauge("kv_cache_usage_perc", share(e.kv_blocks_used, e.kv_blocks), "KV cache usage, from 0 to 1.");
  page.counter("prefix_cache_queries_total", e.prefix_queried_tokens_total,
               "Prompt tokens looked up in the prefix cache.");
  page.counter("prefix_cache_hits_total", e.prefix_hit_tokens_total, "Prompt tokens found in the prefix cache.");
  page.counter("num_preemptions_total", e.preemptions_total, "Preemptions since the engine started.");
  page.counter("prompt_tokens_total", e.prompt_tokens_total, "Prompt tokens processed.");
  page.counter("generation_tokens_total", e.generation_tokens_total, "Tokens generated.");
}

std::string write_vllm(const MetricsPage& data) {
  const RequestMetrics& r = data.requests;
  Page page("vllm:", "engine=\"0\",", fmt::format("model_name=\"{}\"", escaped(data.model_name)));
  write_vllm_gauges(page, data.engine);
  page.write_head("num_requests_waiting_by_reason", "gauge", "Number of requests waiting, by reason.");
  for (const std::string_view reason : {"capacity", "deferred"}) {
    fmt::format_to(std::back_inserter(page.text()),
                   "vllm:num_requests_waiting_by_reason{{engine=\"0\",model_name=\"{}\",reason=\"{}\"}} {}\n",
                   escaped(data.model_name), reason,
                   number(reason == "capacity" ? static_cast<double>(data.engine.waiting) : 0));
  }
  page.write_head("request_success_total", "counter", "Requests that ended, by reason.");
  const std::array<std::pair<std::string_view, std::int64_t>, 3> reasons = {
      {{"stop", r.stopped}, {"length", r.reached_limit}, {"abort", r.aborted}}};
  for (const auto& [reason, count] : reasons) {
    page.write_row("request_success_total", static_cast<double>(count), fmt::format("finished_reason=\"{}\",", reason));
  }
  page.histogram("time_to_first_token_seconds", r.ttft, kNanoseconds, "Time to first token in seconds.");
  page.histogram("inter_token_latency_seconds", r.inter_token, kNanoseconds, "Time between tokens in seconds.");
  page.histogram("request_time_per_output_token_seconds", r.token_mean, kNanoseconds,
                 "Mean time between tokens of a request in seconds.");
  page.histogram("e2e_request_latency_seconds", r.e2e, kNanoseconds, "Time of a whole request in seconds.");
  page.histogram("request_queue_time_seconds", r.queue, kNanoseconds, "Time a request waited in seconds.");
  page.histogram("request_inference_time_seconds", r.inference, kNanoseconds, "Time a request ran in seconds.");
  page.histogram("request_prefill_time_seconds", r.prefill, kNanoseconds, "Time of a request's prompt in seconds.");
  page.histogram("request_decode_time_seconds", r.decode, kNanoseconds, "Time of a request's answer in seconds.");
  page.histogram("request_prompt_tokens", r.prompt_tokens, 1, "Prompt tokens of a request.");
  page.histogram("request_generation_tokens", r.generated_tokens, 1, "Generated tokens of a request.");
  page.write_head("cache_config_info", "gauge", "The engine's cache configuration.");
  fmt::format_to(std::back_inserter(page.text()),
                 "vllm:cache_config_info{{block_size=\"{}\",engine=\"0\",num_gpu_blocks=\"{}\"}} 1.0\n",
                 engine::kKvBlockTokens, data.engine.kv_blocks);
  return page.take();
}

std::string write_sglang(const MetricsPage& data) {
  const RequestMetrics& r = data.requests;
  const sim::ReplicaSample& e = data.engine;
  Page page("sglang:", "engine_type=\"unified\",",
            fmt::format("model_name=\"{}\",pp_rank=\"0\",tp_rank=\"0\"", escaped(data.model_name)));
  page.gauge("num_running_reqs", static_cast<double>(e.running), "The number of running requests.");
  page.gauge("num_queue_reqs", static_cast<double>(e.waiting), "The number of requests in the waiting queue.");
  page.gauge("num_used_tokens", static_cast<double>(e.kv_blocks_used * engine::kKvBlockTokens),
             "The number of used tokens.");
  page.gauge("max_total_num_tokens", static_cast<double>(e.kv_blocks * engine::kKvBlockTokens),
             "The KV cache's size in tokens.");
  page.gauge("token_usage", share(e.kv_blocks_used, e.kv_blocks), "The token usage, from 0 to 1.");
  page.gauge("cache_hit_rate", share(e.prefix_hit_tokens_total, e.prefix_queried_tokens_total),
             "The prefix cache hit rate.");
  page.counter("prompt_tokens_total", e.prompt_tokens_total, "Number of prefill tokens processed.");
  page.counter("generation_tokens_total", e.generation_tokens_total, "Number of generation tokens processed.");
  page.counter("num_requests_total", r.stopped + r.reached_limit, "Number of requests processed.");
  page.counter("num_aborted_requests_total", r.aborted, "Number of requests aborted.");
  page.counter("num_retracted_requests_total", e.preemptions_total, "Number of requests retracted.");
  page.histogram("time_to_first_token_seconds", r.ttft, kNanoseconds, "Time to first token in seconds.");
  page.histogram("inter_token_latency_seconds", r.inter_token, kNanoseconds, "Time between tokens in seconds.");
  page.histogram("e2e_request_latency_seconds", r.e2e, kNanoseconds, "Time of a whole request in seconds.");
  page.histogram("queue_time_seconds", r.queue, kNanoseconds, "Time a request waited in seconds.");
  return page.take();
}

}  // namespace

std::string exposition(const MetricsPage& page) {
  const std::string metrics = page.dialect == Dialect::vllm ? write_vllm(page) : write_sglang(page);
  return metrics + fmt::format(
                       "# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n"
                       "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds {}\n",
                       number(static_cast<double>(page.started_unix_s)));
}

}  // namespace capstan::emulator
