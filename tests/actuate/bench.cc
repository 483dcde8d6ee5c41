#include "actuate/bench.h"

#include "model/reason.h"

namespace capstan::actuate::testing {

using namespace std::chrono_literals;

namespace {

std::pair<int, json> status(int code, const std::string& reason = "") {
  return {code, {{"kind", "Status"}, {"code", code}, {"reason", reason}, {"message", ""}}};
}

/// Returns true if the object has the UID and the version of the preconditions.
bool meets_preconditions(const json& only_if, const json& object) {
  for (const char* field : {"uid", "resourceVersion"}) {
    if (only_if.contains(field) && only_if[field] != object["metadata"][field]) return false;
  }
  return true;
}

/// Returns the object's conditions after the patch. A condition of the patch replaces the object's condition of the
/// same type. If there is none, it is added.
json merged_conditions(const json& object, const json& patch) {
  json merged = object.value("/status/conditions"_json_pointer, json::array());
  for (const json& condition : patch["status"]["conditions"]) {
    bool found = false;
    for (json& have : merged) {
      if (have["type"] == condition["type"]) {
        have = condition;
        found = true;
      }
    }
    if (!found) merged.push_back(condition);
  }
  return merged;
}

std::string text_of(const ports::Outcome& outcome) {
  using Kind = ports::Outcome::Kind;
  if (outcome.kind == Kind::applied) return "applied";
  std::string text = outcome.kind == Kind::refused ? "refused " : "unknown ";
  text += model::name(outcome.why.code);
  std::size_t shown = outcome.why.numbers.size();
  while (shown > 0 && outcome.why.numbers[shown - 1] == 0) --shown;
  for (std::size_t i = 0; i < shown; ++i) text += " " + std::to_string(outcome.why.numbers[i]);
  return text;
}

}  // namespace

Bench::Bench(std::uint64_t seed) : kube(seed), seed_(seed) {
  server.acts = [this](const FakeServer::Write& write) { return act(write); };
  restart();
}

void Bench::restart() {
  runner.reset();
  runner = std::make_unique<Runner>(
      kube.client, server.clock(), [this] { return permit; }, RandomStream(seed_, "runner", ++restarts_));
}

void Bench::run(Duration duration, const std::function<void()>& on_step) {
  const auto run_once = [this] {
    runner->run_once();
    kube.client.run_once();
    for (const ports::Outcome& outcome : runner->take_outcomes()) {
      outcomes[outcome.token.value].push_back(text_of(outcome));
    }
  };
  for (Duration passed{}; passed < duration; passed += 100ms) {
    on_step();
    server.advance(100ms, run_once);
  }
}

json Bench::object(const std::string& collection, const std::string& name) {
  const auto& objects = server.objects(collection);
  const auto found = objects.find(collection == kNodeClaims ? name : "ml/" + name);
  return found == objects.end() ? json() : found->second;
}

Ref Bench::ref(const kube::Resource& resource, const std::string& name) {
  const std::string collection = kube::path_of(resource, "");
  return {{resource, resource.namespaced ? "ml" : "", name}, object(collection, name)["metadata"]["uid"]};
}

std::string Bench::outcome(std::uint32_t token) const {
  std::string all;
  const auto found = outcomes.find(token);
  if (found == outcomes.end()) return all;
  for (const std::string& one : found->second) all += (all.empty() ? "" : "; ") + one;
  return all;
}

std::vector<std::string> Bench::writes() const {
  std::vector<std::string> out;
  for (const FakeServer::Seen& seen : server.seen) {
    if (seen.method == "GET") continue;
    const std::string path = seen.path.substr(0, seen.path.find('?'));
    const std::size_t object = path.find("/namespaces/ml/");
    out.push_back(seen.method + " " + (object == path.npos ? path : path.substr(object + 15)) + " " +
                  std::to_string(seen.status));
  }
  return out;
}

std::optional<std::pair<int, json>> Bench::act(const FakeServer::Write& write) {
  if (const int code = refuse(write); code != 0) return status(code, code == 409 ? "Conflict" : "");
  const auto& objects = server.objects(write.collection);
  const auto found = objects.find(write.key);
  if (write.subresource.empty() || write.subresource == "scale") return std::nullopt;
  if (found == objects.end()) return status(404, "NotFound");
  const json now = found->second;
  const std::string name = now["metadata"]["name"];
  const json& body = write.body;
  if (write.subresource == "binding") {
    if (!meets_preconditions(body["metadata"], now) || now.contains("/spec/nodeName"_json_pointer))
      return status(409, "Conflict");
    server.put(write.collection, "ml", name, {{"spec", {{"nodeName", body["target"]["name"]}}}});
    return status(201);
  }
  if (write.subresource == "eviction") {
    const json only_if = body.value("/deleteOptions/preconditions"_json_pointer, json::object());
    if (!meets_preconditions(only_if, now)) return status(409, "Conflict");
    if (disruptions_allowed == 0) return status(429, "TooManyRequests");
    --disruptions_allowed;
    server.remove(write.collection, write.key);
    return status(201);
  }
  if (write.subresource == "status" && write.apply) {
    if (!meets_preconditions(body["metadata"], now)) return status(409, "Conflict");
    server.put(write.collection, "ml", name, {{"status", {{"conditions", merged_conditions(now, body)}}}});
    return std::pair{200, objects.at(write.key)};
  }
  return std::nullopt;
}

}  // namespace capstan::actuate::testing
