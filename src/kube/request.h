#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "kube/reflector.h"
#include "kube/resource.h"

namespace capstan::kube {

/// Name of Capstan in managed fields.
inline constexpr std::string_view kFieldManager = "capstan";

enum class Verb : std::uint8_t { get, list, watch, create, apply, patch, remove, discover };

std::string_view name_of(Verb verb);
bool is_write(Verb verb);

/// A request to the API server, without credentials.
struct ApiRequest {
  Verb verb = Verb::get;
  std::string method = "GET";
  std::string path;  ///< path and query
  std::string accept = "application/json";
  std::string content_type;  ///< content type of the body
  std::string body;
  Duration watch_timeout{};     ///< time after which the server ends a watch
  Duration timeout{};           ///< time limit for the answer; 0: the default of the verb
  bool urgent = false;          ///< skips the queue and the rate limit; only for the Lease
  bool retry_when_busy = true;  ///< retry after 429; false for evictions, which 429 answers, and writes of the Lease
  /// Function called right before each attempt to send; false drops the request. Empty: no check.
  std::function<bool()> may_send{};
};

/// Resource, namespace and name of one object.
struct ObjectRef {
  Resource resource;
  std::string ns;
  std::string name;
};

/// `all`: the server validates the request and answers, but changes nothing.
enum class DryRun : std::uint8_t { none, all };

/// The object must still have this UID and resource version. An empty field is not checked.
struct Preconditions {
  std::string uid;
  std::string resource_version;
};

ApiRequest get(const ObjectRef& object, std::string_view subresource = {});

/// Returns the list or watch request that a reflector asks for. An empty namespace means all namespaces.
ApiRequest reflect(const Resource& resource, std::string_view ns, const Reflector::Call& call);

/// Returns a POST to the object's collection, or to a subresource such as "binding" or "eviction".
ApiRequest create(const ObjectRef& object, std::string body, std::string_view subresource = {},
                  DryRun dry_run = DryRun::none);

/// Returns a server-side apply of the fields that Capstan owns. `force` takes them from another manager; use it only
/// for fields that no other manager may own.
ApiRequest apply(const ObjectRef& object, std::string body, bool force, std::string_view subresource = {},
                 DryRun dry_run = DryRun::none);

/// Returns a forced server-side apply of the status fields that Capstan owns. The server refuses it if the UID differs,
/// which means that another object has the name now.
/// @param status  status as JSON
ApiRequest apply_status(const ObjectRef& object, std::string_view uid, std::string_view status);

/// Returns a JSON merge patch (RFC 7396). The server refuses it with 409 if the object is not at `resource_version`.
/// An empty `resource_version` is not checked.
/// @param patch  a JSON object
Result<ApiRequest> merge_patch(const ObjectRef& object, std::string_view patch, std::string_view resource_version,
                               std::string_view subresource = {}, DryRun dry_run = DryRun::none);

/// Returns a JSON patch (RFC 6902). The server refuses it with 409 if the object is not at `resource_version`. An
/// empty `resource_version` is not checked.
/// @param patch  a JSON array of operations
Result<ApiRequest> json_patch(const ObjectRef& object, std::string_view patch, std::string_view resource_version,
                              std::string_view subresource = {}, DryRun dry_run = DryRun::none);

/// Returns a patch `{"spec":{"replicas":n}}` of the scale subresource, which every scalable kind has.
ApiRequest scale(const ObjectRef& object, std::int64_t replicas, std::string_view resource_version,
                 DryRun dry_run = DryRun::none);

/// Returns a request that binds a pod to a node. The server refuses it with 409 if the pod is already bound or does not
/// meet the preconditions. It also checks the resource version (setPodNodeAndMetadata in
/// kubernetes/pkg/registry/core/pod/storage/storage.go, v1.34).
ApiRequest bind_pod(const ObjectRef& pod, const Preconditions& only_if, std::string_view node);

/// Returns a request that evicts a pod. The server refuses it with 429 if a disruption budget does not allow it.
ApiRequest evict_pod(const ObjectRef& pod, const Preconditions& only_if, DryRun dry_run = DryRun::none);

ApiRequest remove(const ObjectRef& object, const Preconditions& only_if, DryRun dry_run = DryRun::none);

}  // namespace capstan::kube
