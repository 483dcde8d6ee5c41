#include "kube/events.h"

#include <algorithm>
#include <charconv>

#include "kube/json.h"

namespace capstan::kube {
namespace {

constexpr std::size_t kNoteMax = 1'024;  // bytes; limit of the API server
constexpr std::size_t kNameMax = 200;    // bytes of the object's name in its Event's name, which has at most 253 bytes
constexpr int kFailuresMax = 3;
constexpr Duration kRetryAfter = std::chrono::seconds(10);

std::string hex(std::int64_t value) {
  char text[20];
  return {text, std::to_chars(text, text + sizeof text, value, 16).ptr};
}

/// Cuts a text to at most `bytes` without splitting a character.
std::string cut(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  text.resize(bytes);
  return text;
}

}  // namespace

void EventRecorder::record(const EventNote& note, Instant now, WallTime wall) {
  forget_old(now);
  const std::string object = note.uid.empty() ? note.kind + "/" + note.ns + "/" + note.name : note.uid;
  const Key key{object, note.reason, note.action, note.warning};
  if (const auto found = series_.find(key); found != series_.end()) {
    Series& series = found->second;
    series.count += 1;
    series.last_at = wall;
    series.last_event_at = now;
    return;
  }
  if (series_.size() >= options_.series_max) {
    ++dropped_;
    return;
  }
  Series series;
  series.note = note;
  series.note.note = cut(note.note, kNoteMax);
  // The number makes the name unique in this process, the time makes it unique among processes.
  series.event_name =
      cut(note.name, kNameMax) + "." + hex(wall.unix_us) + "." + hex(static_cast<std::int64_t>(++last_id_));
  series.first_at = series.last_at = wall;
  series.last_event_at = series.not_before = now;
  series_.emplace(key, std::move(series));
}

std::optional<EventRecorder::Outgoing> EventRecorder::poll(Instant now) {
  forget_old(now);
  if (in_flight_ >= options_.in_flight_max) return std::nullopt;
  for (auto& [key, series] : series_) {
    if (series.in_flight != 0 || series.count == series.written || now < series.not_before) continue;
    series.in_flight = ++last_id_;
    series.in_flight_count = series.written == 0 ? 1 : series.count;
    ++in_flight_;
    return Outgoing{series.in_flight, series.written == 0 ? first(series) : repetition(series)};
  }
  return std::nullopt;
}

void EventRecorder::answered(std::uint64_t id, const Outcome& outcome, Instant now) {
  const auto found = std::ranges::find_if(series_, [&](const auto& entry) { return entry.second.in_flight == id; });
  if (found == series_.end()) return;
  --in_flight_;
  Series& series = found->second;
  series.in_flight = 0;
  const bool exists = outcome.ok() || (series.written == 0 && outcome.error.already_exists());
  if (exists) {
    const bool was_first = series.written == 0;
    series.written = series.in_flight_count;
    series.failures = 0;
    series.not_before = was_first ? now : now + options_.series_period;
    return;
  }
  series.not_before = now + std::max(kRetryAfter, outcome.error.retry_after);
  const bool is_deleted = outcome.error.not_found();  // the server has deleted the Event or its namespace
  if (is_deleted || ++series.failures >= kFailuresMax) {
    ++dropped_;
    series_.erase(found);
  }
}

Instant EventRecorder::next_deadline() const {
  Instant next = Instant::never();
  if (in_flight_ >= options_.in_flight_max) return next;
  for (const auto& [key, series] : series_) {
    if (series.in_flight == 0 && series.count != series.written) next = std::min(next, series.not_before);
  }
  return next;
}

void EventRecorder::forget_old(Instant now) {
  std::erase_if(series_, [&](const auto& entry) {
    const Series& series = entry.second;
    return series.in_flight == 0 && series.count == series.written &&
           now - series.last_event_at >= options_.series_window;
  });
}

ObjectRef EventRecorder::place(const Series& series) const {
  return {resources::kEvents, series.note.ns.empty() ? "default" : series.note.ns, series.event_name};
}

ApiRequest EventRecorder::first(const Series& series) const {
  const EventNote& note = series.note;
  const ObjectRef event = place(series);
  const std::string ns = note.ns.empty() ? "" : R"("namespace":)" + json_quote(note.ns) + ",";
  const std::string uid = note.uid.empty() ? "" : R"("uid":)" + json_quote(note.uid) + ",";
  return create(
      event, R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":)" + json_quote(event.name) +
                 R"(,"namespace":)" + json_quote(event.ns) + R"(},"eventTime":")" + wall_time_micros(series.first_at) +
                 R"(","type":")" + (note.warning ? "Warning" : "Normal") + R"(","reason":)" + json_quote(note.reason) +
                 R"(,"action":)" + json_quote(note.action) + R"(,"note":)" + json_quote(note.note) +
                 R"(,"reportingController":)" + json_quote(options_.controller) + R"(,"reportingInstance":)" +
                 json_quote(options_.instance) + R"(,"regarding":{"apiVersion":)" + json_quote(note.api_version) +
                 R"(,"kind":)" + json_quote(note.kind) + "," + ns + uid + R"("name":)" + json_quote(note.name) + "}}");
}

/// Returns the request that updates the count of a series. The API server allows no other change of an Event, so the
/// note stays that of the first occurrence.
ApiRequest EventRecorder::repetition(const Series& series) const {
  const std::string body = R"({"series":{"count":)" + std::to_string(series.count) + R"(,"lastObservedTime":")" +
                           wall_time_micros(series.last_at) + R"("}})";
  return merge_patch(place(series), body, {}).value();
}

}  // namespace capstan::kube
