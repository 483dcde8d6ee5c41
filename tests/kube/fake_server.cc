#include "fake_server.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"

namespace capstan::kube::fake {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

json status(int code, std::string reason, std::string message) {
  return {{"kind", "Status"}, {"apiVersion", "v1"},          {"status", "Failure"},
          {"code", code},     {"reason", std::move(reason)}, {"message", std::move(message)}};
}

json gone() { return status(410, "Expired", "too old resource version"); }

}  // namespace

/// The parts of a request's path.
struct FakeServer::Target {
  std::string collection;
  std::string ns;
  std::string name;
  std::string subresource;
  std::map<std::string, std::string> query;

  explicit Target(std::string_view url) {
    const std::size_t question = std::min(url.find('?'), url.size());
    std::vector<std::string> parts = split(url.substr(0, question), '/');
    parts.erase(parts.begin(), parts.begin() + 2);  // "https:", host
    const std::size_t head = parts.at(0) == "api" ? 2 : 3;
    for (std::size_t i = 0; i < head; ++i) collection += "/" + parts.at(i);
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(head));
    if (parts.size() > 2 && parts[0] == "namespaces") {
      ns = parts[1];
      parts.erase(parts.begin(), parts.begin() + 2);
    }
    collection += "/" + parts.at(0);
    if (parts.size() > 1) name = parts[1];
    if (parts.size() > 2) subresource = parts[2];
    if (question == url.size()) return;
    for (const std::string& pair : split(url.substr(question + 1), '&')) {
      const std::size_t equals = pair.find('=');
      query[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
  }
  std::string key() const { return ns.empty() ? name : ns + "/" + name; }
};

Faults Faults::all(std::uint32_t ppm) {
  return {.unreachable = ppm,
          .busy = ppm,
          .server_error = ppm,
          .unauthorized = ppm,
          .answer_lost = ppm,
          .gateway_timeout = ppm,
          .half_open = ppm / 4,
          .gone = ppm,
          .gone_in_stream = ppm,
          .cut = ppm,
          .ended = ppm,
          .duplicate = ppm,
          .garbage = ppm,
          .delay_max = 200ms};
}

net::RequestId FakeServer::start(net::Request request, net::Handler handler) {
  const net::RequestId id = ++last_id_;
  Exchange& exchange = exchanges_[id];
  exchange.request = std::move(request);
  exchange.handler = std::move(handler);
  exchange.last_sent = now_;
  at(id, arrival(exchange), [this, id](Exchange&) { serve(id); });
  const Duration total = exchanges_[id].request.limits.total;
  if (total > Duration::zero()) {
    at(id, now_ + total, [this, id](Exchange&) { end(id, net::Failure::total_timeout, true); });
  }
  return id;
}

void FakeServer::advance(Duration duration, const std::function<void()>& each_step) {
  const Instant until = now_ + duration;
  while (!deliveries_.empty() && deliveries_.begin()->first.first <= until) {
    const auto first = deliveries_.begin();
    now_ = std::max(now_, first->first.first);
    const auto [id, deliver] = std::move(first->second);
    deliveries_.erase(first);
    if (const auto found = exchanges_.find(id); found != exchanges_.end()) deliver(found->second);
    each_step();
  }
  now_ = until;
  each_step();
}

void FakeServer::at(net::RequestId id, Instant when, std::function<void(Exchange&)> deliver) {
  deliveries_[{when, ++last_delivery_}] = {id, std::move(deliver)};
}

/// Returns the arrival time of data that is sent now.
Instant FakeServer::arrival(Exchange& exchange) {
  const Duration delay = 1ms + Duration(random_.between(0, faults.delay_max.count()));
  exchange.last_sent = std::max(exchange.last_sent, now_ + delay);
  return exchange.last_sent;
}

void FakeServer::end(net::RequestId id, net::Failure failure, bool sent) {
  const auto found = exchanges_.find(id);
  if (found == exchanges_.end()) return;
  const net::Handler handler = std::move(found->second.handler);
  exchanges_.erase(found);
  const int status = failure == net::Failure::none ? 200 : 0;
  handler.on_done({.failure = failure,
                   .message = std::string(net::name_of(failure)),
                   .sent = sent,
                   .response = {.status = status, .headers = {}, .body = {}}});
}

void FakeServer::drop_all() {
  std::vector<net::RequestId> ids;
  for (const auto& [id, exchange] : exchanges_) ids.push_back(id);
  for (const net::RequestId id : ids) end(id, net::Failure::lost, true);
}

void FakeServer::go_silent(net::RequestId id) {
  Exchange& exchange = exchanges_.at(id);
  exchange.silent = true;
  const Duration idle = exchange.request.limits.idle;
  if (idle > Duration::zero())
    at(id, now_ + idle, [this, id](Exchange&) { end(id, net::Failure::idle_timeout, true); });
}

/// Handles a request that has arrived.
void FakeServer::serve(net::RequestId id) {
  Exchange& exchange = exchanges_.at(id);
  const net::Request& request = exchange.request;
  const Target target(request.url);
  seen.push_back({now_, request.method, request.url.substr(request.url.find('/', 8)), 0});
  if (fail_before(id, exchange)) return;
  const std::string* authorization = net::find_header(request.headers, "Authorization");
  const bool authorized = token.empty() || (authorization != nullptr && *authorization == "Bearer " + token);
  if (!authorized || chance(faults.unauthorized)) {
    return reply(id, {401, status(401, "Unauthorized", "Unauthorized"), {}});
  }
  if (request.method == "GET" && target.collection == forbidden) {
    return reply(id, {403, status(403, "Forbidden", forbidden + " is forbidden"), {}});
  }
  const bool watch = target.query.contains("watch");
  if (request.method == "GET" && target.name.empty() && chance(faults.gone)) return reply(id, {410, gone(), {}});
  if (watch) return open_watch(id, target);
  Answer answer = answer_of(request);
  if (chance(faults.answer_lost))
    return at(id, arrival(exchange), [this, id](Exchange&) { end(id, net::Failure::lost, true); });
  if (chance(faults.gateway_timeout)) answer = {504, status(504, "Timeout", "request timed out"), {}};
  reply(id, std::move(answer));
  pump_all();
}

/// Applies a fault that prevents any effect of a request. Returns false if there is none.
bool FakeServer::fail_before(net::RequestId id, Exchange& exchange) {
  if (chance(faults.unreachable)) {
    at(id, arrival(exchange), [this, id](Exchange&) { end(id, net::Failure::connect, false); });
  } else if (chance(faults.busy)) {
    Answer answer{429, status(429, "TooManyRequests", "too many requests"), {}};
    if (random_.below(2) == 0) answer.headers = {{"Retry-After", "2"}};
    reply(id, std::move(answer));
  } else if (chance(faults.server_error)) {
    constexpr int kCodes[] = {500, 502, 503};
    const int code = kCodes[random_.below(3)];
    reply(id, {code, status(code, "InternalError", "an error on the server"), {}});
  } else if (chance(faults.half_open)) {
    go_silent(id);
  } else {
    return false;
  }
  return true;
}

void FakeServer::reply(net::RequestId id, Answer answer) {
  seen.back().status = answer.status;
  at(id, arrival(exchanges_.at(id)), [this, id, answer = std::move(answer)](Exchange& exchange) {
    net::Exchange done;
    done.sent = true;
    done.response.status = answer.status;
    done.response.headers = answer.headers;
    const std::string body = answer.body.dump();
    const net::Handler handler = std::move(exchange.handler);
    exchanges_.erase(id);
    if (handler.on_headers) handler.on_headers(done.response);
    if (handler.on_body) {
      handler.on_body(body);
    } else {
      done.response.body = body;
    }
    handler.on_done(std::move(done));
  });
}

FakeServer::Answer FakeServer::answer_of(const net::Request& request) {
  const Target target(request.url);
  if (request.method == "GET") return target.name.empty() ? list(target) : read(target);
  return write(target, request);
}

FakeServer::Answer FakeServer::read(const Target& target) {
  const auto& objects = collections_[target.collection];
  const auto found = objects.find(target.key());
  if (found == objects.end()) return {404, status(404, "NotFound", target.name + " not found"), {}};
  return {200, found->second, {}};
}

FakeServer::Answer FakeServer::list(const Target& target) {
  Pages pages{history_.size(), collections_[target.collection]};
  if (const auto token = target.query.find("continue"); token != target.query.end()) {
    const auto found = pages_.find(token->second);
    if (found == pages_.end() || found->second.position < compacted_) return {410, gone(), {}};
    pages = found->second;  // the page stays available, because a client may ask for it again
  }
  if (!target.ns.empty()) {
    std::erase_if(pages.rest, [&](const auto& entry) { return !entry.first.starts_with(target.ns + "/"); });
  }
  const auto limit = target.query.find("limit");
  const int page = std::min(page_max, limit == target.query.end() ? page_max : std::stoi(limit->second));
  json items = json::array();
  while (!pages.rest.empty() && std::ssize(items) < page) {
    items.push_back(pages.rest.begin()->second);
    pages.rest.erase(pages.rest.begin());
  }
  json metadata = {{"resourceVersion", version_text(pages.position)}};
  if (!pages.rest.empty()) {
    const std::string token = "page" + std::to_string(pages_.size());
    metadata["continue"] = token;
    pages_.emplace(token, std::move(pages));
  }
  return {200, {{"kind", "List"}, {"metadata", metadata}, {"items", items}}, {}};
}

FakeServer::Answer FakeServer::write(const Target& target, const net::Request& request) {
  json body = request.body.empty() ? json::object() : json::parse(request.body);
  std::map<std::string, json>& objects = collections_[target.collection];
  if (acts) {
    const std::string* type = net::find_header(request.headers, "Content-Type");
    const bool apply = type != nullptr && type->starts_with("application/apply-patch");
    // A review, such as a TokenReview, has no name in its path or its body.
    const std::string name =
        target.name.empty() ? body.value("metadata", json::object()).value("name", std::string()) : target.name;
    const std::string key = target.ns.empty() ? name : target.ns + "/" + name;
    const auto answer = acts({request.method, target.collection, key, target.subresource, apply, body});
    if (answer) return {answer->first, answer->second, {}};
  }
  if (request.method == "POST" && target.name.empty()) {
    const std::string name = body.at("metadata").at("name");
    const std::string key = target.ns.empty() ? name : target.ns + "/" + name;
    if (objects.contains(key)) return {409, status(409, "AlreadyExists", name + " already exists"), {}};
    body["metadata"]["uid"] = "uid" + std::to_string(++last_uid_);
    if (!target.ns.empty()) body["metadata"]["namespace"] = target.ns;
    return {201, objects[key] = record("ADDED", target.collection, key, body), {}};
  }
  const std::string* type = net::find_header(request.headers, "Content-Type");
  const bool applies = type != nullptr && *type == "application/apply-patch+yaml" && target.subresource.empty();
  if (applies && !objects.contains(target.key())) {
    put(target.collection, target.ns, target.name, body);  // server-side apply creates a missing object
    return {201, objects.at(target.key()), {}};
  }
  const auto found = objects.find(target.key());
  if (found == objects.end()) return {404, status(404, "NotFound", target.name + " not found"), {}};
  const json& now = found->second;
  const json conflict = status(409, "Conflict", "the object has been modified");
  if (request.method == "DELETE") {
    const json only_if = body.value("preconditions", json::object());
    for (const char* field : {"uid", "resourceVersion"}) {
      if (only_if.value(field, now["metadata"][field]) != now["metadata"][field]) return {409, conflict, {}};
    }
    remove(target.collection, target.key());
    return {200, status(200, "", ""), {}};
  }
  for (const json::json_pointer& field : {"/metadata/resourceVersion"_json_pointer, "/metadata/uid"_json_pointer}) {
    const json wanted = body.value(field, json());
    if (!wanted.is_null() && wanted != now[field]) return {409, conflict, {}};
  }
  json patched = now;
  patched.merge_patch(body);
  return {200, found->second = record("MODIFIED", target.collection, target.key(), patched), {}};
}

json FakeServer::record(const std::string& type, const std::string& collection, const std::string& key, json object) {
  object["metadata"]["resourceVersion"] = version_text(history_.size() + 1);
  history_.push_back({type, collection, key, object});
  return object;
}

void FakeServer::put(const std::string& collection, const std::string& ns, const std::string& name, json fields) {
  const std::string key = ns.empty() ? name : ns + "/" + name;
  std::map<std::string, json>& objects = collections_[collection];
  const auto found = objects.find(key);
  json object = found != objects.end() ? found->second : json{{"metadata", {{"name", name}}}};
  if (!ns.empty()) object["metadata"]["namespace"] = ns;
  if (found == objects.end()) object["metadata"]["uid"] = "uid" + std::to_string(++last_uid_);
  object.merge_patch(fields);
  objects[key] = record(found == objects.end() ? "ADDED" : "MODIFIED", collection, key, object);
  pump_all();
}

void FakeServer::remove(const std::string& collection, const std::string& key) {
  std::map<std::string, json>& objects = collections_[collection];
  const auto found = objects.find(key);
  if (found == objects.end()) return;
  record("DELETED", collection, key, found->second);
  objects.erase(found);
  pump_all();
}

/// Returns a resource version that does not reveal the order of versions.
std::string FakeServer::version_text(std::size_t position) const {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, mix64(position), 36).ptr;
  return "v" + std::string(text, end);
}

std::optional<std::size_t> FakeServer::position(std::string_view resource_version) const {
  for (std::size_t i = history_.size() + 1; i-- > 0;) {
    if (version_text(i) == resource_version) return i;
  }
  return std::nullopt;
}

void FakeServer::open_watch(net::RequestId id, const Target& target) {
  Exchange& exchange = exchanges_.at(id);
  const auto value = [&](const char* key) {
    const auto found = target.query.find(key);
    return found == target.query.end() ? std::string() : found->second;
  };
  const bool initial = value("sendInitialEvents") == "true";
  if (initial && watch_list == WatchList::refused) {
    return reply(id, {422, status(422, "Invalid", "sendInitialEvents is forbidden"), {}});
  }
  const std::optional<std::size_t> from = position(value("resourceVersion"));
  if (!initial && (!from || *from < compacted_)) return reply(id, {410, gone(), {}});
  seen.back().status = 200;
  exchange.watching = true;
  exchange.collection = target.collection;
  exchange.ns = target.ns;
  exchange.next_event = initial ? history_.size() : *from;
  exchange.next_bookmark = now_ + bookmark_period;
  exchange.ends_at = now_ + std::chrono::seconds(std::stoi(value("timeoutSeconds")));
  at(id, arrival(exchange), [](Exchange& e) { e.handler.on_headers({.status = 200, .headers = {}, .body = {}}); });
  if (initial) {
    for (const auto& [key, object] : collections_[target.collection]) {
      if (!target.ns.empty() && !key.starts_with(target.ns + "/")) continue;
      if (!send_event(id, json{{"type", "ADDED"}, {"object", object}}.dump())) return;
    }
    if (watch_list == WatchList::served) {
      const json end = {{"resourceVersion", version_text(history_.size())},
                        {"annotations", {{"k8s.io/initial-events-end", "true"}}}};
      if (!send_event(id, json{{"type", "BOOKMARK"}, {"object", {{"metadata", end}}}}.dump())) return;
    }
  }
  pump(id);
}

void FakeServer::pump_all() {
  std::vector<net::RequestId> ids;
  for (const auto& [id, exchange] : exchanges_) {
    if (exchange.watching && !exchange.silent) ids.push_back(id);
  }
  for (const net::RequestId id : ids) pump(id);
}

/// Sends new events to a watch, then a bookmark and the end of the watch when they are due.
void FakeServer::pump(net::RequestId id) {
  Exchange& exchange = exchanges_.at(id);
  while (exchange.next_event < history_.size()) {
    const Event& event = history_[exchange.next_event++];
    if (event.collection != exchange.collection) continue;
    if (!exchange.ns.empty() && !event.key.starts_with(exchange.ns + "/")) continue;
    if (!send_event(id, json{{"type", event.type}, {"object", event.object}}.dump())) return;
  }
  if (now_ >= exchange.next_bookmark) {
    exchange.next_bookmark = now_ + bookmark_period;
    const json metadata = {{"resourceVersion", version_text(exchange.next_event)}};
    if (!send_event(id, json{{"type", "BOOKMARK"}, {"object", {{"metadata", metadata}}}}.dump())) return;
  }
  const auto close = [this, id](Exchange&) { end(id, net::Failure::none, true); };
  if (now_ >= exchange.ends_at) {
    exchange.silent = true;
    return at(id, arrival(exchange), close);
  }
  if (std::exchange(exchange.timed, true)) return;
  at(id, std::min(exchange.next_bookmark, exchange.ends_at), [this, id](Exchange& e) {
    e.timed = false;
    if (!e.silent) pump(id);
  });
}

/// Sends an event, or a fault instead of it. Returns false if the stream has ended.
bool FakeServer::send_event(net::RequestId id, const std::string& line) {
  Exchange& exchange = exchanges_.at(id);
  const auto lose = [this, id](Exchange&) { end(id, net::Failure::lost, true); };
  if (chance(faults.half_open)) {
    go_silent(id);
    return false;
  }
  if (chance(faults.gone_in_stream)) {
    send_line(id, json{{"type", "ERROR"}, {"object", gone()}}.dump());
  } else if (chance(faults.garbage)) {
    send_line(id, line.substr(0, line.size() / 2));
  } else if (chance(faults.cut)) {
    send_piece(id, line.substr(0, random_.below(line.size())));
    exchange.silent = true;
    at(id, arrival(exchange), lose);
    return false;
  } else if (chance(faults.ended)) {
    exchange.silent = true;
    at(id, arrival(exchange), [this, id](Exchange&) { end(id, net::Failure::none, true); });
    return false;
  } else {
    send_line(id, line);
    if (chance(faults.duplicate)) send_line(id, line);
    return true;
  }
  exchange.silent = true;  // an error ends a watch
  at(id, arrival(exchange), lose);
  return false;
}

/// Sends a line in pieces that arrive one after the other.
void FakeServer::send_line(net::RequestId id, std::string line) {
  line += '\n';
  const std::size_t cut = random_.below(line.size());
  for (const std::string& piece : {line.substr(0, cut), line.substr(cut)}) {
    if (!piece.empty()) send_piece(id, piece);
  }
}

void FakeServer::send_piece(net::RequestId id, std::string piece) {
  at(id, arrival(exchanges_.at(id)), [piece = std::move(piece)](Exchange& exchange) {
    const auto on_body = exchange.handler.on_body;  // a copy, because the callback may cancel the exchange
    on_body(piece);
  });
}

}  // namespace capstan::kube::fake
