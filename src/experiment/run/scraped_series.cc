#include "experiment/run/scraped_series.h"

#include <charconv>

#include "peers/autoscaler.h"

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

/// Time for which samples stay, because no query of an autoscaler looks further back. Older samples are dropped every
/// `kForgetEvery`.
constexpr Duration kKept = 2h;
constexpr Duration kForgetEvery = 30min;

std::string bound_text(std::int64_t microseconds) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, static_cast<double>(microseconds) / 1e6);
  std::string text(digits, written.ptr);
  if (text.find('.') == std::string::npos) text += ".0";  // the form of the Python client
  return text;
}

}  // namespace

void ScrapedSeries::put(std::string_view metric, promql::Labels labels, Instant at, double value) {
  promql::set(labels, promql::kMetricName, metric);
  coming_.push_back({at + delay_, std::move(labels), {peers::series_ms(at), value}});
}

void ScrapedSeries::add(model::GangId gang, Instant at, const Page& page) {
  promql::Labels own(labels_.begin(), labels_.end());
  promql::set(own, "pod", peers::pod_name(gang));
  const sim::ReplicaSample& engine = page.engine.engine;
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  const double kv = engine.kv_blocks > 0 ? number(engine.kv_blocks_used) / number(engine.kv_blocks) : 0;
  const std::size_t before = coming_.size();
  put("vllm:num_requests_waiting", own, at, number(engine.waiting));
  put("vllm:num_requests_running", own, at, number(engine.running));
  put("vllm:kv_cache_usage_perc", own, at, kv);
  put("vllm:gpu_cache_usage_perc", own, at, kv);
  put("vllm:prompt_tokens_total", own, at, number(engine.prompt_tokens_total));
  put("vllm:generation_tokens_total", own, at, number(engine.generation_tokens_total));
  put("vllm:num_preemptions_total", own, at, number(engine.preemptions_total));
  put("vllm:prefix_cache_queries_total", own, at, number(engine.prefix_queried_tokens_total));
  put("vllm:prefix_cache_hits_total", own, at, number(engine.prefix_hit_tokens_total));
  put("DCGM_FI_DEV_GPU_UTIL", own, at, number(page.duty_cycle_percent));
  put("DCGM_FI_DEV_FB_USED_PERCENT", own, at, number(memory_used_percent_) / 100);
  put_first_tokens(own, gang, at, page.engine.ttft);
  promql::Labels info = own;
  promql::set(info, "num_gpu_blocks", std::to_string(engine.kv_blocks));
  promql::set(info, "block_size", "16");
  put("vllm:cache_config_info", info, at, 1);
  std::vector<promql::Labels>& all = by_gang_[gang];
  for (std::size_t i = before; all.size() < coming_.size() - before; ++i) all.push_back(coming_[i].labels);
}

void ScrapedSeries::put_first_tokens(const promql::Labels& own, model::GangId gang, Instant at,
                                     const sim::TtftBuckets& since_last) {
  sim::TtftBuckets& all = first_tokens_[gang];
  double sum = 0;
  for (std::size_t i = 0; i < all.counts.size(); ++i) {
    all.counts[i] += since_last.counts[i];
    sum += static_cast<double>(all.counts[i]);
    promql::Labels bucket = own;
    const bool last = i == sim::TtftBuckets::kUpperUs.size();
    promql::set(bucket, "le", last ? "+Inf" : bound_text(sim::TtftBuckets::kUpperUs[i]));
    put("vllm:time_to_first_token_seconds_bucket", bucket, at, sum);
  }
  put("vllm:time_to_first_token_seconds_count", own, at, sum);
}

void ScrapedSeries::add(Instant at, RequestCount gateway_waiting) {
  const promql::Labels own(labels_.begin(), labels_.end());
  put("inference_extension_flow_control_queue_size", own, at, static_cast<double>(gateway_waiting));
  for (const promql::Labels& labels : gone_) {
    coming_.push_back({at + delay_, labels, {peers::series_ms(at), promql::stale_marker()}});
  }
  gone_.clear();
}

void ScrapedSeries::add(Instant at, const std::string& queue, std::int64_t jobs_waiting) {
  promql::Labels own;
  promql::set(own, "cluster_queue", queue);
  promql::set(own, "status", "active");
  put("kueue_pending_workloads", own, at, static_cast<double>(jobs_waiting));
}

void ScrapedSeries::forget(model::GangId gang) {
  first_tokens_.erase(gang);
  const std::vector<promql::Labels>& series = by_gang_[gang];
  gone_.insert(gone_.end(), series.begin(), series.end());
  by_gang_.erase(gang);
}

const promql::SeriesStore& ScrapedSeries::at(Instant now) {
  while (!coming_.empty() && coming_.front().visible <= now) {
    store_.append(coming_.front().labels, coming_.front().point);
    coming_.pop_front();
  }
  if (now >= next_forget_) {
    next_forget_ = now + kForgetEvery;
    store_.forget_before(peers::series_ms(now - kKept));
  }
  return store_;
}

}  // namespace capstan::experiment
