#include "cli/cluster_objects.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "kube/request.h"
#include "lint/rules.h"

namespace capstan::cli {
namespace {

using Object = nlohmann::ordered_json;

constexpr int kPageObjects = 250;

std::string text_at(const Object& object, const char* pointer) {
  const nlohmann::json_pointer<std::string> at(pointer);
  return object.contains(at) && object.at(at).is_string() ? object.at(at).get<std::string>() : std::string();
}

/// Returns true if a controller created the object from one that a person wrote, such as a ReplicaSet from a Deployment
/// or an HPA from a ScaledObject.
bool is_controlled(const Object& object) {
  const nlohmann::json_pointer<std::string> at("/metadata/ownerReferences");
  if (!object.contains(at) || !object.at(at).is_array()) return false;
  return std::ranges::any_of(object.at(at), [](const Object& owner) {
    return owner.is_object() && owner.contains("controller") && owner.at("controller") == true;
  });
}

using Pointer = nlohmann::json_pointer<std::string>;
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns true if the author wrote spec.replicas, and not only the API server (its default) or an autoscaler. Returns
/// true, too, if the writer is not known from the annotation or the managed fields.
bool states_replicas(const Object& object) {
  const Object& metadata = object.at("metadata");
  if (metadata.contains("annotations") && metadata["annotations"].contains(kLastApplied)) {
    const Object& text = metadata["annotations"][kLastApplied];
    const Object applied = Object::parse(text.is_string() ? text.get<std::string>() : "", nullptr, false);
    return applied.is_object() && applied.contains(Pointer("/spec/replicas"));
  }
  if (!metadata.contains("managedFields") || !metadata["managedFields"].is_array()) return true;
  return std::ranges::any_of(metadata["managedFields"], [](const Object& manager) {
    return manager.is_object() && !manager.contains("subresource") &&
           manager.contains(Pointer("/fieldsV1/f:spec/f:replicas"));
  });
}

/// Returns the object as its author may have written it: without the parts that the cluster writes, and with apiVersion
/// and kind first.
Object as_authored(const Object& object, const kube::Resource& resource) {
  Object out = {{"apiVersion", resource.api_version()}, {"kind", resource.kind}};
  for (const auto& [key, value] : object.items()) {
    if (key != "apiVersion" && key != "kind" && key != "status") out[key] = value;
  }
  Object& metadata = out["metadata"];
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

std::optional<ObjectPage> read_object_page(const std::string& body, const kube::Resource& resource) {
  const Object page = Object::parse(body, nullptr, false);
  if (!page.is_object() || !page.contains("items")) return std::nullopt;
  ObjectPage out{.texts = {}, .next = text_at(page, "/metadata/continue")};
  if (!page.at("items").is_array()) return out;  // an empty list may be null
  for (const Object& item : page.at("items")) {
    if (!item.is_object() || is_controlled(item)) continue;
    const std::string ns = text_at(item, "/metadata/namespace");
    const std::string name = text_at(item, "/metadata/name");
    out.texts.push_back({.path = resource.kind + "/" + (ns.empty() ? "" : ns + "/") + name,
                         .text = as_authored(item, resource).dump(2, ' ', false, Object::error_handler_t::replace),
                         .named = true,
                         .scope = "cluster",
                         .deployers = {0}});  // all objects count as one deployment
  }
  return out;
}

ClusterObjects::ClusterObjects(kube::Client& client, net::Clock clock, std::string ns)
    : client_(client), ns_(std::move(ns)), discovery_(client, std::move(clock)) {}

ClusterObjects::~ClusterObjects() { client_.cancel(call_); }

Instant ClusterObjects::next_deadline() const {
  return std::min(client_.next_deadline(), discovered_ ? Instant::never() : discovery_.next_deadline());
}

void ClusterObjects::turn() {
  if (!discovered_) {
    discovery_.turn();
    if (discovery_.known()) {
      choose();
    } else if (discovery_.error()) {
      refused_.push_back({ErrorKind::input, "the cluster", 0, 0, discovery_.error()->text()});
      discovered_ = true;
    }
  }
  if (discovered_ && call_ == 0 && !left_.empty()) ask();
}

/// Chooses the version that the server prefers, for each kind that rules check.
void ClusterObjects::choose() {
  discovered_ = true;
  const std::vector<std::string_view> kinds = lint::checked_kinds();
  std::set<std::pair<std::string, std::string>> chosen;
  for (const kube::ServedResource& served : discovery_.served().all()) {
    const kube::Resource& resource = served.resource;
    if (!std::ranges::binary_search(kinds, resource.kind)) continue;
    if (chosen.emplace(resource.group, resource.kind).second) left_.push_back(resource);
  }
}

void ClusterObjects::ask() {
  const kube::Resource& resource = left_.front();
  kube::Reflector::Call page;
  page.kind = kube::Reflector::Call::Kind::list;
  page.page_objects = kPageObjects;
  page.continue_token = continue_;
  call_ = client_.call(kube::reflect(resource, resource.namespaced ? ns_ : "", page),
                       [this](const kube::Outcome& outcome) { answered(outcome); });
}

void ClusterObjects::answered(const kube::Outcome& outcome) {
  call_ = 0;
  const kube::Resource resource = left_.front();
  std::optional<ObjectPage> page = outcome.ok() ? read_object_page(outcome.body, resource) : std::nullopt;
  continue_ = page ? page->next : std::string();
  if (page) {
    std::ranges::move(page->texts, std::back_inserter(texts_));
  } else {
    const std::string why = outcome.ok() ? "the answer is not a list" : outcome.error.text();
    refused_.push_back({ErrorKind::input, resource.name(), 0, 0, "cannot be listed: " + why});
  }
  if (continue_.empty()) left_.pop_front();
}

}  // namespace capstan::cli
