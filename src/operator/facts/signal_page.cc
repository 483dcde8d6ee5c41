#include "operator/facts/signal_page.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "settings/names.h"
#include "signals/metric_catalog.h"
#include "signals/target_reader.h"

namespace capstan::op {
namespace {

using signals::MissingReason;
using signals::SignalName;

/// The metric names of a page, the CPU seconds and the preemptions of its process, and its faults.
struct PageNames {
  std::vector<std::string> names;  // sorted, each once
  std::optional<double> cpu_seconds;
  std::optional<double> preemptions;
  std::string other_pod;
  std::string error;
};

PageNames names_of(const MetricsPage& page, const ExpectedPage& expected) {
  PageNames out;
  std::set<std::string, std::less<>> names;
  signals::ExpositionReader reader(page.text, page.format, expected.source);
  using Entry = signals::ExpositionReader::Entry;
  Entry entry = reader.next_sample();
  for (; entry == Entry::sample; entry = reader.next_sample()) {
    const signals::Sample& sample = reader.sample();
    if (!names.contains(sample.name)) names.emplace(sample.name);
    if (sample.name == "process_cpu_seconds_total") out.cpu_seconds = out.cpu_seconds.value_or(0) + sample.value;
    if (sample.name == "vllm:num_preemptions_total") out.preemptions = out.preemptions.value_or(0) + sample.value;
    const auto pod = sample.label("pod");
    if (pod && !expected.pod.empty() && *pod != expected.pod) out.other_pod = std::string(*pod);
  }
  if (entry == Entry::error) out.error = reader.error().text();
  out.names.assign(names.begin(), names.end());
  return out;
}

std::set<std::string, std::less<>> words_of(std::string_view name) {
  std::set<std::string, std::less<>> words;
  std::string word;
  for (const char c : name) {
    if (c != '_' && c != ':') {
      word += c;
      continue;
    }
    words.insert(std::exchange(word, {}));
  }
  words.insert(word);
  words.erase("");
  return words;
}

/// Returns the names of a signal's metric at one engine, newest first.
std::vector<std::string> known_names(const signals::MetricCatalog& catalog, std::uint16_t engine, SignalName signal) {
  std::vector<std::string> names;
  for (const signals::MetricRow& row : catalog.rows()) {
    const bool known = std::ranges::find(names, row.metric) != names.end();
    if (row.engine == engine && row.signal == signal && !known) names.push_back(row.metric);
  }
  return names;
}

std::optional<std::int64_t> value_of(const signals::SubjectReadings& subject, SignalName name) {
  const model::Signal& signal = subject[name].signal;
  return signal.usable() ? std::optional(signal.value) : std::nullopt;
}

/// Returns a signal in words. For a signal that no policy needs, returns its name in model/signals.inc.
std::string signal_words(SignalName signal) {
  switch (signal) {
    case SignalName::waiting:
      return "waiting requests";
    case SignalName::running:
      return "running requests";
    case SignalName::kv_usage_ppm:
      return "KV cache use";
    case SignalName::ttft_p99_us:
      return "time to first token";
    case SignalName::prompt_tokens_total:
      return "prompt tokens";
    case SignalName::generated_tokens_total:
      return "generated tokens";
    case SignalName::duty_cycle_percent:
      return "GPU duty cycle";
    case SignalName::memory_used_percent:
      return "GPU memory use";
    default:
      return std::string(signals::info(signal).name);
  }
}

/// Returns the field of `spec.signals.custom` for a signal. Empty if it has none.
std::string custom_field(SignalName signal) {
  const auto* row =
      std::ranges::find(settings::kCustomMetrics, signals::info(signal).name, &settings::CustomMetric::signal);
  return row == std::end(settings::kCustomMetrics) ? std::string() : std::string(row->field);
}

/// Returns true if the signal is lost. A signal that needs two pages, or that an idle engine lacks, is not lost.
bool is_lost(MissingReason why) {
  return why != MissingReason::none && why != MissingReason::first_page && why != MissingReason::no_observations;
}

void add_signals(const signals::TargetReadings& readings, const signals::SubjectReadings& subject,
                 const PageNames& page, const ExpectedPage& expected, PageFacts& facts) {
  const signals::MetricCatalog& catalog = signals::MetricCatalog::bundled();
  const Result<std::uint16_t> engine = catalog.engine(readings.engine);
  if (!engine) return;
  for (const SignalName signal : expected.needed) {
    const MissingReason why = subject[signal].why;
    if (!is_lost(why)) continue;
    if (why != MissingReason::no_metric) {
      facts.unusable.push_back({expected.source, signal_words(signal), std::string(signals::info(why).sentence)});
      continue;
    }
    std::vector<std::string> known = known_names(catalog, *engine, signal);
    if (known.empty()) continue;  // no version of this engine exports it
    std::string similar = similar_metric(page.names, known);
    facts.pod.lost.push_back({signal_words(signal), std::move(known), std::move(similar), custom_field(signal)});
  }
}

void add_load(const signals::SubjectReadings& subject, explain::ReplicaLoad& load) {
  load.running = value_of(subject, SignalName::running);
  load.waiting = value_of(subject, SignalName::waiting);
  load.kv_usage_ppm = value_of(subject, SignalName::kv_usage_ppm);
  if (const auto us = value_of(subject, SignalName::ttft_p99_us)) load.engine_ttft_ms = *us / 1000;
}

/// Adds the CPU use and the preemptions between two pages.
void add_change(const PageNames& before, const PageNames& after, Duration passed, explain::ReplicaLoad& load) {
  if (before.cpu_seconds && after.cpu_seconds && passed > Duration{} && *after.cpu_seconds >= *before.cpu_seconds) {
    const double share = (*after.cpu_seconds - *before.cpu_seconds) / in_seconds(passed);
    load.cpu_percent = std::llround(std::min(share, 1e6) * 100);
  }
  if (before.preemptions && after.preemptions && *after.preemptions >= *before.preemptions) {
    load.preemptions = std::llround(std::min(*after.preemptions - *before.preemptions, 1e9));
  }
}

}  // namespace

std::string similar_metric(std::span<const std::string> page_names, std::span<const std::string> known) {
  constexpr std::size_t kMinShared = 3;
  std::string best;
  std::size_t most = 0;
  for (const std::string& name : page_names) {
    const auto words = words_of(name);
    for (const std::string& expected : known) {
      const auto shared = static_cast<std::size_t>(
          std::ranges::count_if(words_of(expected), [&](const std::string& word) { return words.contains(word); }));
      if (shared < kMinShared || shared <= most) continue;
      most = shared;
      best = name;
    }
  }
  return best;
}

PageFacts page_facts(std::span<const MetricsPage> pages, const ExpectedPage& expected) {
  PageFacts facts;
  facts.pod.name = expected.source;
  facts.pod.expected_engine = expected.engine;
  if (pages.empty()) return facts;
  const MetricsPage& last = pages.back();
  const PageNames names = names_of(last, expected);
  facts.pod.metrics = names.names.size();
  facts.pod.bad_page = names.error;
  facts.pod.other_pod = names.other_pod;
  if (!names.error.empty()) return facts;

  signals::TargetOptions options;  // without a model: the reader names every model of the page
  if (const auto engine = options.catalog->engine(expected.engine)) options.engine = *engine;
  signals::TargetReader reader(options);
  for (const MetricsPage& page : pages) reader.read(page.text, page.format, expected.source, {.at = page.at});
  const signals::TargetReadings readings = reader.readings(last.at);
  if (readings.page == MissingReason::unknown_engine || readings.page == MissingReason::no_metric) return facts;
  facts.pod.engine = readings.engine;
  for (const signals::SubjectReadings& subject : readings.subjects) {
    if (!subject.subject.empty()) facts.pod.models.push_back(subject.subject);
  }
  const auto own = std::ranges::find(readings.subjects, expected.model, &signals::SubjectReadings::subject);
  if (own == readings.subjects.end() && readings.subjects.size() != 1) return facts;
  const signals::SubjectReadings& subject = own != readings.subjects.end() ? *own : readings.subjects.front();
  add_signals(readings, subject, names, expected, facts);
  add_load(subject, facts.load);
  if (pages.size() > 1) add_change(names_of(pages.front(), expected), names, last.at - pages.front().at, facts.load);
  return facts;
}

}  // namespace capstan::op
