#include "kube/watcher.h"

#include <optional>

namespace capstan::kube {
namespace {

using Type = Reflector::Event::Type;

/// After an answer larger than this the parser frees its memory.
constexpr std::size_t kLargeBody = 1u << 20;

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

std::optional<Type> type_of(std::string_view name) {
  if (name == "ADDED") return Type::added;
  if (name == "MODIFIED") return Type::modified;
  if (name == "DELETED") return Type::deleted;
  if (name == "BOOKMARK") return Type::bookmark;
  if (name == "ERROR") return Type::error;
  return std::nullopt;
}

}  // namespace

Watcher::Watcher(Client& client, JsonDocument& document, Collection collection, Sink& sink, Reflector::Options options,
                 RandomStream random, net::Clock clock)
    : client_(client),
      document_(document),
      collection_(std::move(collection)),
      sink_(sink),
      reflector_(options, random),
      clock_(std::move(clock)) {}

Watcher::~Watcher() { client_.cancel(call_); }

void Watcher::run_once() {
  const std::optional<Reflector::Call> call = reflector_.poll(clock_());
  if (!call) return;
  client_.cancel(call_);
  const std::uint64_t serial = call->serial;
  ApiRequest request = reflect(collection_.resource, collection_.ns, *call);
  if (call->kind == Reflector::Call::Kind::list) {
    call_ = client_.call(std::move(request), [this, serial](const Outcome& outcome) { listed(serial, outcome); });
    return;
  }
  Client::StreamHandler handler;
  handler.on_line = [this, serial](std::string_view line) { return handle_line(serial, line); };
  handler.on_end = [this, serial](const ApiError* error) {
    if (error != nullptr) {
      reflector_.failed(serial, *error, clock_());
    } else {
      reflector_.ended(serial, clock_());
    }
  };
  call_ = client_.stream(std::move(request), std::move(handler));
}

void Watcher::listed(std::uint64_t serial, const Outcome& outcome) {
  const Instant now = clock_();
  if (!outcome.ok()) return reflector_.failed(serial, outcome.error, now);
  const Result<Json> list = document_.parse(outcome.body);
  if (!list) return broken(serial, "the list is " + list.error().message);
  const Json metadata = (*list)["metadata"];
  if (!(*list)["items"].is_array() && (*list)["items"].exists())
    return broken(serial, "the field items of the list is not a list");
  const Reflector::Page page{.resource_version = metadata["resourceVersion"].text(),
                             .continue_token = metadata["continue"].text()};
  const Reflector::Step step = reflector_.page(serial, page, now);
  if (step.begin) sink_.begin();
  if (step.stage) {
    (*list)["items"].for_each([&](Json object) { counters_.rejected += sink_.stage(object) ? 0 : 1; });
  }
  if (step.finish) sink_.finish();
  if (step.fresh) sink_.fresh(now);
  if (outcome.body.size() > kLargeBody) document_.shrink();
}

bool Watcher::handle_line(std::uint64_t serial, std::string_view line) {
  const Result<Json> parsed = document_.parse(line);
  const std::optional<Type> type = parsed ? type_of((*parsed)["type"].text()) : std::nullopt;
  if (!type) {
    broken(serial, "a line of the watch is not an event");
    return false;
  }
  const Json object = (*parsed)["object"];
  const Json metadata = object["metadata"];
  const ApiError error = *type == Type::error ? read_status(object) : ApiError();
  const Reflector::Event event{
      .type = *type,
      .resource_version = metadata["resourceVersion"].text(),
      .initial_events_end = metadata["annotations"][kInitialEventsEnd].text() == "true",
      .error = &error,
  };
  const Reflector::Step step = reflector_.event(serial, event, clock_());
  put(step, *type, object);
  return *type != Type::error;
}

void Watcher::put(const Reflector::Step& step, Type type, Json object) {
  counters_.events += step == Reflector::Step() ? 0 : 1;
  if (step.begin) sink_.begin();
  if (step.stage && type == Type::deleted) {
    sink_.unstage(object);
  } else if (step.stage) {
    counters_.rejected += sink_.stage(object) ? 0 : 1;
  }
  if (step.apply && type == Type::deleted) {
    sink_.erase(object);
  } else if (step.apply) {
    counters_.rejected += sink_.set(object) ? 0 : 1;
  }
  if (step.finish) sink_.finish();
  if (step.fresh) sink_.fresh(clock_());
}

void Watcher::broken(std::uint64_t serial, std::string message) {
  ++counters_.rejected;
  ApiError error;
  error.message = std::move(message);
  reflector_.failed(serial, error, clock_());
}

}  // namespace capstan::kube
