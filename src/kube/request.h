#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "kube/reflector.h"
#include "kube/resource.h"

namespace capstan::kube {

/// Who Capstan is in managed fields, and where its Events come from.
inline constexpr std::string_view kFieldManager = "capstan";

enum class Verb : std::uint8_t { get, list, watch, create, apply, patch, remove, discover };

std::string_view name_of(Verb verb);
bool is_write(Verb verb);

/// A request to the API server, its credentials apart.
struct ApiRequest {
  Verb verb = Verb::get;
  std::string method = "GET";
  std::string path;  ///< with its query
  std::string accept = "application/json";
  std::string content_type;  ///< of the body
  std::string body;
  Duration watch_timeout{};     ///< of a watch: the server ends it then
  Duration timeout{};           ///< for its answer; zero: by the verb
  bool urgent = false;          ///< passes the queue and the rate limit: the Lease
  bool retry_when_busy = true;  ///< 429 means "later"; of an eviction it is the answer
  /// Asked at the moment of sending, each time; false: it is not sent any more. Empty: always.
  std::function<bool()> may_send{};
};

/// One object in a place: what most requests are about.
struct ObjectRef {
  Resource resource;
  std::string ns;
  std::string name;
};

/// With `all`, the server checks and answers as if, and changes nothing.
enum class DryRun : std::uint8_t { none, all };

/// Only if the object is still this one; empty: whichever it is.
struct Preconditions {
  std::string uid;
  std::string resource_version;
};

ApiRequest get(const ObjectRef& object, std::string_view subresource = {});

/// The page or the watch that a reflector asks for. An empty namespace means all of them.
ApiRequest reflect(const Resource& resource, std::string_view ns, const Reflector::Call& call);

/// POST. The object's own collection, or a subresource: "binding", "eviction".
ApiRequest create(const ObjectRef& object, std::string body, std::string_view subresource = {},
                  DryRun dry_run = DryRun::none);

/// Server-side apply of the fields that are ours. `force` takes them from another manager and is only for fields that
/// nobody else may own.
ApiRequest apply(const ObjectRef& object, std::string body, bool force, std::string_view subresource = {},
                 DryRun dry_run = DryRun::none);

/// Server-side apply of the fields of a status that are ours, refused where another object has taken the name.
/// @param status  as JSON
ApiRequest apply_status(const ObjectRef& object, std::string_view uid, std::string_view status);

/// A JSON merge patch (RFC 7396), refused with 409 where the object is no longer at `resource_version`.
/// @param patch  a JSON object
Result<ApiRequest> merge_patch(const ObjectRef& object, std::string_view patch, std::string_view resource_version,
                               std::string_view subresource = {}, DryRun dry_run = DryRun::none);

/// A JSON patch (RFC 6902), with the same precondition.
/// @param patch  a JSON array of operations
Result<ApiRequest> json_patch(const ObjectRef& object, std::string_view patch, std::string_view resource_version,
                              std::string_view subresource = {}, DryRun dry_run = DryRun::none);

/// `{"spec":{"replicas":n}}` to the scale subresource, which every scalable kind has.
ApiRequest scale(const ObjectRef& object, std::int64_t replicas, std::string_view resource_version,
                 DryRun dry_run = DryRun::none);

/// Binds a pod to a node; the server refuses with 409 where the pod is bound, or not the one meant, by then. A resource
/// version holds too (setPodNodeAndMetadata in kubernetes/pkg/registry/core/pod/storage/storage.go, v1.34).
ApiRequest bind_pod(const ObjectRef& pod, const Preconditions& only_if, std::string_view node);

/// Asks for a pod's eviction; the server refuses with 429 where a disruption budget holds it.
ApiRequest evict_pod(const ObjectRef& pod, const Preconditions& only_if, DryRun dry_run = DryRun::none);

ApiRequest remove(const ObjectRef& object, const Preconditions& only_if, DryRun dry_run = DryRun::none);

}  // namespace capstan::kube
