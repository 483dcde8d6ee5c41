#include "kube/authored_objects.h"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "kube/request.h"

namespace capstan::kube {
namespace {

using JsonObject = nlohmann::ordered_json;

constexpr int kPageObjects = 250;

std::string text_at(const JsonObject& object, const char* pointer) {
  const nlohmann::json_pointer<std::string> at(pointer);
  return object.contains(at) && object.at(at).is_string() ? object.at(at).get<std::string>() : std::string();
}

/// Returns true if a controller owns the object, so that no person wrote it: a ReplicaSet of a Deployment, or an HPA of
/// a ScaledObject.
bool is_controlled(const JsonObject& object) {
  const nlohmann::json_pointer<std::string> at("/metadata/ownerReferences");
  if (!object.contains(at) || !object.at(at).is_array()) return false;
  return std::ranges::any_of(object.at(at), [](const JsonObject& owner) {
    return owner.is_object() && owner.contains("controller") && owner.at("controller") == true;
  });
}

using Pointer = nlohmann::json_pointer<std::string>;
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns false if only the API server (by its default) or an autoscaler wrote spec.replicas. Returns true if the
/// author wrote it, or if neither the annotation nor the managed fields show who did.
bool states_replicas(const JsonObject& object) {
  const JsonObject& metadata = object.at("metadata");
  if (metadata.contains("annotations") && metadata["annotations"].contains(kLastApplied)) {
    const JsonObject& text = metadata["annotations"][kLastApplied];
    const JsonObject applied = JsonObject::parse(text.is_string() ? text.get<std::string>() : "", nullptr, false);
    return applied.is_object() && applied.contains(Pointer("/spec/replicas"));
  }
  if (!metadata.contains("managedFields") || !metadata["managedFields"].is_array()) return true;
  return std::ranges::any_of(metadata["managedFields"], [](const JsonObject& manager) {
    return manager.is_object() && !manager.contains("subresource") &&
           manager.contains(Pointer("/fieldsV1/f:spec/f:replicas"));
  });
}

/// Returns the object as its author may have written it: without the parts that the cluster writes, and with apiVersion
/// and kind first.
JsonObject as_authored(const JsonObject& object, const Resource& resource) {
  JsonObject out = {{"apiVersion", resource.api_version()}, {"kind", resource.kind}};
  for (const auto& [key, value] : object.items()) {
    if (key != "apiVersion" && key != "kind" && key != "status") out[key] = value;
  }
  JsonObject& metadata = out["metadata"];
  if (!metadata.is_object()) return out;
  if (out.contains("spec") && out["spec"].is_object() && !states_replicas(object)) out["spec"].erase("replicas");
  for (const char* key : {"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp"}) {
    metadata.erase(key);
  }
  if (metadata.contains("annotations") && metadata["annotations"].is_object()) {
    metadata["annotations"].erase(kLastApplied);
  }
  return out;
}

}  // namespace

std::optional<AuthoredPage> read_authored_page(const std::string& body, const Resource& resource) {
  const JsonObject page = JsonObject::parse(body, nullptr, false);
  if (!page.is_object() || !page.contains("items")) return std::nullopt;
  AuthoredPage out{.objects = {}, .next = text_at(page, "/metadata/continue")};
  if (!page.at("items").is_array()) return out;  // an empty list may be null
  for (const JsonObject& item : page.at("items")) {
    if (!item.is_object() || is_controlled(item)) continue;
    const std::string ns = text_at(item, "/metadata/namespace");
    const std::string name = text_at(item, "/metadata/name");
    out.objects.push_back(
        {.name = resource.kind + "/" + (ns.empty() ? "" : ns + "/") + name,
         .text = as_authored(item, resource).dump(2, ' ', false, JsonObject::error_handler_t::replace)});
  }
  return out;
}

AuthoredObjects::AuthoredObjects(Client& client, net::Clock clock, std::set<std::string, std::less<>> kinds,
                                 std::string ns)
    : client_(client), kinds_(std::move(kinds)), ns_(std::move(ns)), discovery_(client, std::move(clock)) {}

AuthoredObjects::~AuthoredObjects() { client_.cancel(call_); }

Instant AuthoredObjects::next_deadline() const {
  return std::min(client_.next_deadline(), discovered_ ? Instant::never() : discovery_.next_deadline());
}

void AuthoredObjects::run_once() {
  if (!discovered_) {
    discovery_.run_once();
    if (discovery_.known()) {
      choose();
    } else if (discovery_.error()) {
      refused_.push_back({ErrorKind::input, "the cluster", 0, 0, discovery_.error()->text()});
      discovered_ = true;
    }
  }
  if (discovered_ && call_ == 0 && !left_.empty()) ask();
}

/// Chooses the version that the server prefers, for each kind to read.
void AuthoredObjects::choose() {
  discovered_ = true;
  std::set<std::pair<std::string, std::string>> chosen;
  for (const ServedResource& served : discovery_.served().all()) {
    const Resource& resource = served.resource;
    if (!kinds_.contains(resource.kind)) continue;
    if (chosen.emplace(resource.group, resource.kind).second) left_.push_back(resource);
  }
}

void AuthoredObjects::ask() {
  const Resource& resource = left_.front();
  Reflector::Call page;
  page.kind = Reflector::Call::Kind::list;
  page.page_objects = kPageObjects;
  page.continue_token = continue_;
  call_ = client_.call(reflect(resource, resource.namespaced ? ns_ : "", page),
                       [this](const Outcome& outcome) { answered(outcome); });
}

void AuthoredObjects::answered(const Outcome& outcome) {
  call_ = 0;
  const Resource resource = left_.front();
  std::optional<AuthoredPage> page = outcome.ok() ? read_authored_page(outcome.body, resource) : std::nullopt;
  continue_ = page ? page->next : std::string();
  if (page) {
    std::ranges::move(page->objects, std::back_inserter(objects_));
  } else {
    const std::string why = outcome.ok() ? "the answer is not a list" : outcome.error.text();
    refused_.push_back({ErrorKind::input, resource.name(), 0, 0, "cannot be listed: " + why});
  }
  if (continue_.empty()) left_.pop_front();
}

}  // namespace capstan::kube
