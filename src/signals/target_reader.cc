#include "signals/target_reader.h"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

namespace capstan::signals {
namespace {

constexpr std::size_t kMaxSubjects = 1024;  ///< above this, subjects that the last page lacks are dropped
constexpr double kMaxCount = 9e15;          ///< largest count; exact in a double, because it is below 2^53

/// Returns the value as a whole number in the signal's unit, or the reason why it is not plausible. A value at most one
/// percent above the largest plausible value is a rounding error of the engine and becomes that largest value.
std::expected<std::int64_t, MissingReason> checked(double scaled, std::int64_t max) {
  const auto limit = static_cast<double>(max);
  if (scaled != scaled || scaled - scaled != 0) return std::unexpected(MissingReason::not_a_number);
  if (scaled < 0) return std::unexpected(MissingReason::negative);
  if (scaled > limit * 1.01) return std::unexpected(MissingReason::out_of_range);
  return scaled >= limit ? max : static_cast<std::int64_t>(scaled + 0.5);
}

/// Removes duplicates of cells. Returns false if two cells of one series have different values, because either may be
/// right.
bool unite_duplicates(std::span<Cell>& cells) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (count > 0) {
      const Cell& last = cells[count - 1];
      const bool same = last.row == cells[i].row && last.series == cells[i].series && last.bound == cells[i].bound;
      if (same && last.value != cells[i].value) return false;
      if (same) continue;
    }
    cells[count++] = cells[i];
  }
  cells = cells.first(count);
  return true;
}

/// Returns the buckets of one series as a histogram, or nothing if they are not valid.
std::optional<Histogram> buckets(std::span<const Cell> cells) {
  Histogram histogram;
  for (const Cell& cell : cells) {
    const bool is_count = cell.value >= 0 && cell.value <= kMaxCount;  // false for NaN
    if (cell.bound == Cell::kBadBound || !is_count) return std::nullopt;
    const auto count = static_cast<std::int64_t>(cell.value);
    if (!histogram.counts.empty() && count < histogram.counts.back()) return std::nullopt;
    histogram.bounds.push_back(cell.bound);
    histogram.counts.push_back(count);
  }
  if (histogram.bounds.empty() || histogram.bounds.back() != Histogram::kInfinity) return std::nullopt;
  return histogram;
}

/// Returns the observations between `before` and `after`. Returns all of `after` if the engine has restarted or has
/// changed its buckets in between.
Histogram increment(const Histogram& before, const Histogram& after) {
  if (before.bounds != after.bounds) return after;
  Histogram grown = after;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < grown.counts.size(); ++i) {
    if (after.counts[i] < before.counts[i]) return after;
    grown.counts[i] -= before.counts[i];
    // The counts of buckets are cumulative, so the differences must not fall from one bucket to the next. They can fall
    // if the engine wrote the page in the middle of an update. The previous difference is then used.
    grown.counts[i] = last = std::max(last, grown.counts[i]);
  }
  return grown;
}

template <typename Same>
std::size_t run_length(std::span<const Cell> cells, Same same) {
  std::size_t length = 1;
  while (length < cells.size() && same(cells[0], cells[length])) ++length;
  return length;
}

}  // namespace

SubjectReadings TargetReadings::single() const {
  if (subjects.size() == 1) return subjects.front();
  SubjectReadings none;
  const MissingReason why = page != MissingReason::none ? page
                            : subjects.empty()          ? MissingReason::no_metric
                                                        : MissingReason::several_models;
  for (SignalReading& reading : none.signals) reading.why = why;
  return none;
}

model::ReplicaSignals replica_signals(const SubjectReadings& readings) {
  model::ReplicaSignals signals;
#define CAPSTAN_REPLICA_SIGNAL(name, measure, page_max, description) signals.name = readings[SignalName::name].signal;
#include "model/signals.inc"
  return signals;
}

CellCollector TargetReader::collector() const {
  return {*options_.catalog, options_.engine, options_.pod, options_.cells_max};
}

void TargetReader::read(std::string_view page, Exposition format, std::string_view source, const ReadAt& at) {
  ExpositionReader reader(page, format, source, options_.limits);
  CellCollector collected = collector();
  ExpositionReader::Entry entry = reader.next();
  for (; entry != ExpositionReader::Entry::end; entry = reader.next()) {
    if (entry == ExpositionReader::Entry::error) return failed(MissingReason::bad_page, reader.error());
    if (entry == ExpositionReader::Entry::sample) collected.take(reader.sample());
    if (entry == ExpositionReader::Entry::metadata) collected.declare(reader.metadata());
  }
  read(collected, at);
}

void TargetReader::read(CellCollector& collected, const ReadAt& at) {
  error_.reset();
  page_ = MissingReason::none;
  std::vector<Cell>& cells = collected.cells();
  const std::optional<std::uint16_t> engine = options_.engine ? options_.engine : find_engine(cells);
  if (collected.has_too_many_cells()) return failed(MissingReason::too_many_series);
  if (collected.names_other_pod()) return failed(MissingReason::other_pod);
  if (!engine || cells.empty())
    return failed(options_.engine ? MissingReason::no_metric : MissingReason::unknown_engine);
  std::erase_if(cells, [&](const Cell& cell) { return options_.catalog->rows()[cell.row].engine != *engine; });

  const std::vector<std::string>& names = collected.subjects();
  std::erase_if(cells, [&](const Cell& cell) { return !accepts(names[cell.subject]); });
  if (cells.empty()) return failed(MissingReason::other_model);
  engine_ = engine;
  note_restart(collected.process_start_seconds());

  const auto order = [this](const Cell& cell) {
    return std::tuple(cell.subject, options_.catalog->rows()[cell.row].signal, cell.row, cell.series, cell.bound);
  };
  std::ranges::sort(cells, {}, order);
  std::set<std::string_view> present;
  for (std::span<Cell> rest(cells); !rest.empty();) {
    const std::size_t length = run_length(rest, [](const Cell& a, const Cell& b) { return a.subject == b.subject; });
    const std::string& name = names[rest.front().subject];
    present.insert(name);
    read_subject(subjects_[name], rest.first(length), at);
    rest = rest.subspan(length);
  }
  for (auto& [name, subject] : subjects_) {
    if (present.contains(name)) continue;
    for (State& state : subject.states) state.why = MissingReason::no_metric;
  }
  if (subjects_.size() > kMaxSubjects) {
    std::erase_if(subjects_, [&](const auto& entry) { return !present.contains(entry.first); });
  }
}

/// Returns the engine to which most signals on the page belong; in a tie, the first in the table.
std::optional<std::uint16_t> TargetReader::find_engine(const std::vector<Cell>& cells) const {
  std::vector<std::uint8_t> seen(options_.catalog->engines().size() * kSignalCount);
  for (const Cell& cell : cells) {
    const MetricRow& row = options_.catalog->rows()[cell.row];
    seen[row.engine * kSignalCount + static_cast<std::size_t>(row.signal)] = 1;
  }
  std::ptrdiff_t most = 0;
  std::optional<std::uint16_t> best;
  for (std::size_t engine = 0; engine < options_.catalog->engines().size(); ++engine) {
    const auto first = seen.begin() + static_cast<std::ptrdiff_t>(engine * kSignalCount);
    const std::ptrdiff_t signals = std::count(first, first + static_cast<std::ptrdiff_t>(kSignalCount), 1);
    if (signals > most) best = static_cast<std::uint16_t>(engine);
    most = std::max(most, signals);
  }
  return best;
}

bool TargetReader::accepts(const std::string& subject) const {
  return options_.models.empty() || subject.empty() ||
         std::ranges::find(options_.models, subject) != options_.models.end();
}

/// Detects a restart of the engine by its process start time. All counters of the new process began at zero.
void TargetReader::note_restart(std::optional<double> process_start_seconds) {
  if (!process_start_seconds || !(*process_start_seconds > 0)) return;
  const bool has_restarted = process_start_ && *process_start_seconds != *process_start_;
  process_start_ = process_start_seconds;
  if (!has_restarted) return;
  ++restarts_;
  for (auto& [name, subject] : subjects_) {
    subject.counters.clear();
    subject.histograms.clear();
    for (State& state : subject.states) state.row.reset();
  }
}

void TargetReader::read_subject(Subject& subject, Cells cells, const ReadAt& at) {
  const auto signal_of = [this](const Cell& cell) { return options_.catalog->rows()[cell.row].signal; };
  for (State& state : subject.states) state.why = MissingReason::no_metric;
  while (!cells.empty()) {
    const SignalName name = signal_of(cells.front());
    const std::size_t length =
        run_length(cells, [&](const Cell& a, const Cell& b) { return signal_of(a) == signal_of(b); });
    Cells signal_cells = cells.first(length);
    cells = cells.subspan(length);
    State& state = subject.states[static_cast<std::size_t>(name)];
    const Outcome outcome = evaluate(subject, name, signal_cells, at.at);
    state.why = outcome ? MissingReason::none : outcome.error();
    // The page is good but has no new observations. An idle engine has no latency, so the last value is dropped.
    if (!outcome && outcome.error() == MissingReason::no_observations) state.value.reset();
    if (!outcome) continue;
    state.value = *outcome;
    const std::int64_t oldest_ms = std::ranges::min(signal_cells, {}, &Cell::timestamp_ms).timestamp_ms;
    const std::int64_t age_ms =
        at.unix_ms > 0 && oldest_ms >= 0 ? std::max<std::int64_t>(0, at.unix_ms - oldest_ms) : 0;
    state.at = at.at - std::min<Duration>(std::chrono::milliseconds(std::min<std::int64_t>(age_ms, 1'000'000'000)),
                                          at.at.since_start);
  }
  update_late_share(subject, {SignalName::ttft_p99_us, SignalName::ttft_late_ppm, options_.ttft_bound}, at.at);
  update_late_share(subject, {SignalName::queue_p99_us, SignalName::queue_late_ppm, options_.queue_bound}, at.at);
  update_late_share(subject, {SignalName::tpot_p99_us, SignalName::tpot_late_ppm, options_.tpot_bound}, at.at);
  update_difference(subject, {SignalName::prefill_us_total, SignalName::ttft_us_total, SignalName::queue_us_total});
  update_difference(subject, {SignalName::decode_us_total, SignalName::e2e_us_total, SignalName::ttft_us_total});
  merge_unknown_phases(subject);
  subject.last_page = at.at;
}

/// Computes a sum that the page does not have, as the difference of two sums that it has. An engine counts the parts of
/// a request at different times, so the difference may fall. The result then keeps its value.
void TargetReader::update_difference(Subject& subject, const SumDifference& sums) {
  State& result = subject.states[static_cast<std::size_t>(sums.result)];
  const State& whole = subject.states[static_cast<std::size_t>(sums.whole)];
  const State& part = subject.states[static_cast<std::size_t>(sums.part)];
  if (result.why != MissingReason::no_metric) return;
  if (whole.why != MissingReason::none || part.why != MissingReason::none || !whole.value || !part.value) return;
  result.why = MissingReason::none;
  result.value = std::max(result.value.value_or(0), *whole.value - *part.value);
  result.at = std::min(whole.at, part.at);
}

/// Merges a phase that the page does not have with the next one: the queue with prefill, or prefill with decode.
void TargetReader::merge_unknown_phases(Subject& subject) {
  const auto why = [&](SignalName name) { return subject.states[static_cast<std::size_t>(name)].why; };
  const bool has_prefill = why(SignalName::prefill_us_total) != MissingReason::no_metric;
  const bool has_decode = why(SignalName::decode_us_total) != MissingReason::no_metric;
  const bool has_queue = why(SignalName::queue_us_total) != MissingReason::no_metric;
  const State& first_token = subject.states[static_cast<std::size_t>(SignalName::ttft_us_total)];
  if (!has_queue && !has_prefill && has_decode && first_token.why == MissingReason::none) {
    subject.states[static_cast<std::size_t>(SignalName::prefill_us_total)] = first_token;
  }
  if (has_queue && !has_prefill && !has_decode) {
    update_difference(subject, {SignalName::decode_us_total, SignalName::e2e_us_total, SignalName::queue_us_total});
  }
}

/// Updates the share of late observations from the histogram whose percentile was just read.
void TargetReader::update_late_share(Subject& subject, const LateShare& late, Instant at) const {
  if (late.bound <= Duration{}) return;
  const State& percentile = subject.states[static_cast<std::size_t>(late.percentile)];
  State& share = subject.states[static_cast<std::size_t>(late.share)];
  share.why = percentile.why;
  share.at = percentile.at;
  if (!percentile.value) share.value.reset();
  if (percentile.why != MissingReason::none) return;
  share.value = share_above_ppm(percentile.window.sum(at, options_.window), late.bound / std::chrono::microseconds(1));
}

TargetReader::Outcome TargetReader::evaluate(Subject& subject, SignalName name, Cells cells, Instant at) {
  State& state = subject.states[static_cast<std::size_t>(name)];
  const std::uint16_t newest = cells.front().row;
  const MetricRow& row = options_.catalog->rows()[newest];
  if (row.kind >= MetricKind::share_used)
    return unite_duplicates(cells) ? share(name, cells) : std::unexpected(MissingReason::duplicate);
  cells = cells.first(run_length(cells, [](const Cell& a, const Cell& b) { return a.row == b.row; }));
  if (!unite_duplicates(cells)) return std::unexpected(MissingReason::duplicate);
  const Outcome outcome = row.kind == MetricKind::gauge     ? gauge(row, cells)
                          : row.kind == MetricKind::counter ? counter(subject, state, row, cells)
                                                            : histogram(subject, state, cells, at);
  if (outcome) state.row = newest;
  return outcome;
}

TargetReader::Outcome TargetReader::gauge(const MetricRow& row, Cells cells) const {
  double all = 0;
  for (const Cell& cell : cells) {
    if (cell.is_not_gauge) return std::unexpected(MissingReason::no_gauge);
    const double scaled = cell.value * row.scale;
    if (const Outcome one = checked(scaled, info(row.signal).max); !one) return one;
    all = row.combine == Combine::sum ? all + scaled : std::max(all, scaled);
  }
  return checked(all, info(row.signal).max);
}

TargetReader::Outcome TargetReader::counter(Subject& subject, State& state, const MetricRow& row, Cells cells) const {
  std::vector<std::int64_t> values;
  for (const Cell& cell : cells) {
    const Outcome value = checked(cell.value * row.scale, info(row.signal).max);
    if (!value) return value;
    values.push_back(*value);
  }
  // If the engine has renamed the counter, the total already includes the count under the old name.
  const bool renamed = state.row && *state.row != cells.front().row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto [known, is_new] = subject.counters.try_emplace({cells[i].row, cells[i].series}, values[i]);
    const bool reset = values[i] < known->second;
    const std::int64_t grown = renamed ? 0 : is_new || reset ? values[i] : values[i] - known->second;
    if (__builtin_add_overflow(state.total, grown, &state.total)) state.total = INT64_MAX;
    known->second = values[i];
  }
  return state.total;
}

TargetReader::Outcome TargetReader::histogram(Subject& subject, State& state, Cells cells, Instant at) {
  std::vector<std::pair<SeriesKey, Histogram>> now;
  for (Cells rest = cells; !rest.empty();) {
    const std::size_t length = run_length(rest, [](const Cell& a, const Cell& b) { return a.series == b.series; });
    std::optional<Histogram> one = buckets(rest.first(length));
    if (!one) return std::unexpected(MissingReason::bad_histogram);
    now.emplace_back(SeriesKey{rest.front().row, rest.front().series}, std::move(*one));
    if (now.back().second.bounds != now.front().second.bounds) return std::unexpected(MissingReason::bad_histogram);
    rest = rest.subspan(length);
  }
  const bool follows = subject.last_page && at - *subject.last_page <= options_.gap_max;
  Histogram grown;
  for (auto& [key, histogram] : now) {
    const auto [known, is_new] = subject.histograms.try_emplace(key, histogram);
    if (follows) grown.add(is_new ? histogram : increment(known->second, histogram));
    known->second = std::move(histogram);
  }
  if (follows) state.window.add(grown, at, options_.window);
  const std::optional<std::int64_t> value = quantile(state.window.sum(at, options_.window), options_.percentile_ppm);
  if (!value) return std::unexpected(follows ? MissingReason::no_observations : MissingReason::first_page);
  return checked(static_cast<double>(*value), info(options_.catalog->rows()[cells.front().row].signal).max);
}

TargetReader::Outcome TargetReader::share(SignalName name, Cells cells) const {
  double used = 0;
  double rest = 0;
  double total = 0;
  bool has_used = false;
  for (const Cell& cell : cells) {
    if (const Outcome good = checked(cell.value, static_cast<std::int64_t>(kMaxCount)); !good) return good;
    const MetricKind kind = options_.catalog->rows()[cell.row].kind;
    (kind == MetricKind::share_used ? used : kind == MetricKind::share_rest ? rest : total) += cell.value;
    has_used |= kind == MetricKind::share_used;
  }
  const double capacity = total > 0 ? total : used + rest;
  if (!has_used || !(capacity > 0) || (total == 0 && rest == 0)) return std::unexpected(MissingReason::no_metric);
  return checked(used / capacity * (info(name).measure == Measure::ppm ? 1e6 : 100), info(name).max);
}

TargetReadings TargetReader::readings(Instant now) const {
  const std::optional<std::uint16_t> engine = options_.engine ? options_.engine : engine_;
  TargetReadings all{.engine = engine ? options_.catalog->engines()[*engine] : std::string(),
                     .page = page_,
                     .error = error_,
                     .restarts = restarts_,
                     .subjects = {}};
  for (const auto& [name, subject] : subjects_) {
    SubjectReadings& readings = all.subjects.emplace_back();
    readings.subject = name;
    for (std::size_t i = 0; i < kSignalCount; ++i) {
      const State& state = subject.states[i];
      readings.signals[i].why = page_ != MissingReason::none ? page_ : state.why;
      if (!state.value) continue;
      model::Signal& signal = readings.signals[i].signal;
      signal.age = std::max(now - state.at, Duration::zero());
      if (signal.age > options_.missing_after) continue;
      signal.value = *state.value;
      signal.state = signal.age > options_.stale_after ? model::Signal::State::stale : model::Signal::State::value;
    }
  }
  return all;
}

}  // namespace capstan::signals
