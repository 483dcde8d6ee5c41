#include "kube/request.h"

#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "kube/json.h"
#include "net/url.h"

namespace capstan::kube {
namespace {

using nlohmann::json;

ApiRequest write(Verb verb, std::string method, const ObjectRef& object, std::string_view subresource, DryRun dry_run) {
  ApiRequest request;
  request.verb = verb;
  request.method = std::move(method);
  const bool into_collection = verb == Verb::create && subresource.empty();
  request.path = path_of(object.resource, object.ns, into_collection ? std::string_view() : object.name, subresource);
  if (verb != Verb::remove) net::add_query(request.path, "fieldManager", kFieldManager);
  if (verb == Verb::create || verb == Verb::patch) net::add_query(request.path, "fieldValidation", "Strict");
  if (dry_run == DryRun::all) net::add_query(request.path, "dryRun", "All");
  request.content_type = "application/json";
  return request;
}

std::unexpected<Error> not_a(std::string_view what) {
  Error error;
  error.message = "the patch is not a JSON " + std::string(what) + ", expected one";
  return std::unexpected(std::move(error));
}

json preconditions(const Preconditions& only_if) {
  json out = json::object();
  if (!only_if.uid.empty()) out["uid"] = only_if.uid;
  if (!only_if.resource_version.empty()) out["resourceVersion"] = only_if.resource_version;
  return out;
}

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string_view name_of(Verb verb) {
  switch (verb) {
    case Verb::get:
      return "get";
    case Verb::list:
      return "list";
    case Verb::watch:
      return "watch";
    case Verb::create:
      return "create";
    case Verb::apply:
      return "apply";
    case Verb::patch:
      return "patch";
    case Verb::remove:
      return "delete";
    case Verb::discover:
      return "discover";
  }
  CAPSTAN_ASSERT(false);
}

bool is_write(Verb verb) {
  return verb == Verb::create || verb == Verb::apply || verb == Verb::patch || verb == Verb::remove;
}

ApiRequest get(const ObjectRef& object, std::string_view subresource) {
  ApiRequest request;
  request.path = path_of(object.resource, object.ns, object.name, subresource);
  return request;
}

ApiRequest reflect(const Resource& resource, std::string_view ns, const Reflector::Call& call) {
  using Kind = Reflector::Call::Kind;
  ApiRequest request;
  request.path = path_of(resource, ns);
  std::string& path = request.path;
  if (call.kind == Kind::list) {
    request.verb = Verb::list;
    net::add_query(path, "limit", std::to_string(call.page_objects));
    if (!call.continue_token.empty()) net::add_query(path, "continue", call.continue_token);
    return request;
  }
  request.verb = Verb::watch;
  request.watch_timeout = call.timeout;
  net::add_query(path, "watch", "1");
  net::add_query(path, "allowWatchBookmarks", "true");
  net::add_query(path, "timeoutSeconds", std::to_string(whole_seconds(call.timeout)));
  if (call.kind == Kind::watch_list) {
    net::add_query(path, "sendInitialEvents", "true");
    net::add_query(path, "resourceVersionMatch", "NotOlderThan");
  } else {
    net::add_query(path, "resourceVersion", call.resource_version);
  }
  return request;
}

ApiRequest create(const ObjectRef& object, std::string body, std::string_view subresource, DryRun dry_run) {
  ApiRequest request = write(Verb::create, "POST", object, subresource, dry_run);
  request.body = std::move(body);
  return request;
}

ApiRequest apply(const ObjectRef& object, std::string body, bool force, std::string_view subresource, DryRun dry_run) {
  ApiRequest request = write(Verb::apply, "PATCH", object, subresource, dry_run);
  if (force) net::add_query(request.path, "force", "true");
  request.content_type = "application/apply-patch+yaml";  // JSON is valid YAML
  request.body = std::move(body);
  return request;
}

ApiRequest apply_status(const ObjectRef& object, std::string_view uid, std::string_view status) {
  std::string body = R"({"apiVersion":)" + json_quote(object.resource.api_version()) + R"(,"kind":)" +
                     json_quote(object.resource.kind) + R"(,"metadata":{"name":)" + json_quote(object.name);
  if (object.resource.namespaced) body += R"(,"namespace":)" + json_quote(object.ns);
  body += R"(,"uid":)" + json_quote(uid) + R"(},"status":)" + std::string(status) + "}";
  return apply(object, std::move(body), true, "status");
}

Result<ApiRequest> merge_patch(const ObjectRef& object, std::string_view patch, std::string_view resource_version,
                               std::string_view subresource, DryRun dry_run) {
  json body = json::parse(patch, nullptr, false);
  if (!body.is_object() || (body.contains("metadata") && !body["metadata"].is_object())) return not_a("object");
  if (!resource_version.empty()) body["metadata"]["resourceVersion"] = resource_version;
  ApiRequest request = write(Verb::patch, "PATCH", object, subresource, dry_run);
  request.content_type = "application/merge-patch+json";
  request.body = text_of(body);
  return request;
}

Result<ApiRequest> json_patch(const ObjectRef& object, std::string_view patch, std::string_view resource_version,
                              std::string_view subresource, DryRun dry_run) {
  json body = json::parse(patch, nullptr, false);
  if (!body.is_array()) return not_a("array");
  if (!resource_version.empty()) {
    // "replace" instead of "test": if the stored version differs, "replace" gives a conflict (409) and "test" an
    // invalid request (422).
    const json pin = {{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", resource_version}};
    body.insert(body.begin(), pin);
  }
  ApiRequest request = write(Verb::patch, "PATCH", object, subresource, dry_run);
  request.content_type = "application/json-patch+json";
  request.body = text_of(body);
  return request;
}

ApiRequest scale(const ObjectRef& object, std::int64_t replicas, std::string_view resource_version, DryRun dry_run) {
  json body = {{"spec", {{"replicas", replicas}}}};
  if (!resource_version.empty()) body["metadata"]["resourceVersion"] = resource_version;
  ApiRequest request = write(Verb::patch, "PATCH", object, "scale", dry_run);
  request.content_type = "application/merge-patch+json";
  request.body = text_of(body);
  return request;
}

ApiRequest bind_pod(const ObjectRef& pod, const Preconditions& only_if, std::string_view node) {
  json metadata = preconditions(only_if);
  metadata["namespace"] = pod.ns;
  metadata["name"] = pod.name;
  const json body = {{"apiVersion", "v1"},
                     {"kind", "Binding"},
                     {"metadata", metadata},
                     {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
  return create(pod, text_of(body), "binding");
}

ApiRequest evict_pod(const ObjectRef& pod, const Preconditions& only_if, DryRun dry_run) {
  json body = {
      {"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"namespace", pod.ns}, {"name", pod.name}}}};
  if (const json given = preconditions(only_if); !given.empty()) body["deleteOptions"]["preconditions"] = given;
  ApiRequest request = create(pod, text_of(body), "eviction", dry_run);
  request.retry_when_busy = false;
  return request;
}

ApiRequest remove(const ObjectRef& object, const Preconditions& only_if, DryRun dry_run) {
  ApiRequest request = write(Verb::remove, "DELETE", object, {}, dry_run);
  json body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (const json given = preconditions(only_if); !given.empty()) body["preconditions"] = given;
  request.body = text_of(body);
  return request;
}

}  // namespace capstan::kube
