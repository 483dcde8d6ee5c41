#include "kube/discovery.h"

#include <algorithm>

namespace capstan::kube {
namespace {

/// Accept header that prefers the aggregated form of the answer and accepts the plain form, which every server has.
constexpr std::string_view kAccept =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json";

/// Largest number of group versions of one server; more are dropped.
constexpr std::size_t kPathsMax = 1'000;

const ServedResource* first(const std::vector<ServedResource>& all, auto holds) {
  const auto found = std::ranges::find_if(all, holds);
  return found == all.end() ? nullptr : &*found;
}

void read_versions(Json group, std::vector<std::string>& paths) {
  const std::string preferred = group["preferredVersion"]["groupVersion"].string();
  if (!preferred.empty()) paths.push_back("/apis/" + preferred);
  group["versions"].for_each([&](Json version) {
    const std::string name = version["groupVersion"].string();
    if (!name.empty() && name != preferred) paths.push_back("/apis/" + name);
  });
}

}  // namespace

bool ServedResource::has_subresource(std::string_view name) const {
  return std::ranges::find(subresources, name) != subresources.end();
}

const ServedResource* ServedResources::find_plural(std::string_view group, std::string_view plural) const {
  return first(all_, [&](const auto& s) { return s.resource.group == group && s.resource.plural == plural; });
}

const ServedResource* ServedResources::find_kind(std::string_view group, std::string_view kind) const {
  return first(all_, [&](const auto& s) { return s.resource.group == group && s.resource.kind == kind; });
}

const ServedResource* ServedResources::find_exact(const Resource& resource) const {
  return first(all_, [&](const auto& s) {
    return s.resource.group == resource.group && s.resource.version == resource.version &&
           s.resource.plural == resource.plural;
  });
}

ServedResources read_aggregated_discovery(Json list) {
  ServedResources served;
  list["items"].for_each([&](Json group) {
    group["versions"].for_each([&](Json version) {
      version["resources"].for_each([&](Json resource) {
        ServedResource one;
        one.resource = {.group = group["metadata"]["name"].string(),
                        .version = version["version"].string(),
                        .plural = resource["resource"].string(),
                        .kind = resource["responseKind"]["kind"].string(),
                        .namespaced = resource["scope"].text() == "Namespaced"};
        resource["subresources"].for_each([&](Json sub) { one.subresources.push_back(sub["subresource"].string()); });
        std::ranges::sort(one.subresources);
        served.add(std::move(one));
      });
    });
  });
  return served;
}

ServedResources read_resource_list(Json list) {
  const std::string group_version = list["groupVersion"].string();
  const std::size_t slash = group_version.find('/');
  const std::string group = slash == group_version.npos ? std::string() : group_version.substr(0, slash);
  const std::string version = slash == group_version.npos ? group_version : group_version.substr(slash + 1);
  std::vector<std::pair<std::string, std::string>> subresources;  // resource, subresource
  list["resources"].for_each([&](Json item) {
    const std::string name = item["name"].string();
    const std::size_t at = name.find('/');
    if (at != name.npos) subresources.emplace_back(name.substr(0, at), name.substr(at + 1));
  });
  std::ranges::sort(subresources);
  ServedResources served;
  list["resources"].for_each([&](Json item) {
    const std::string name = item["name"].string();
    if (name.contains('/')) return;
    ServedResource one;
    one.resource = {.group = group,
                    .version = version,
                    .plural = name,
                    .kind = item["kind"].string(),
                    .namespaced = item["namespaced"].boolean()};
    for (const auto& [parent, sub] : subresources) {
      if (parent == name) one.subresources.push_back(sub);
    }
    served.add(std::move(one));
  });
  return served;
}

std::vector<std::string> read_version_paths(Json list) {
  std::vector<std::string> paths;
  if (list["kind"].text() == "APIVersions") {
    list["versions"].for_each([&](Json version) { paths.push_back("/api/" + version.string()); });
  } else {
    list["groups"].for_each([&](Json group) { read_versions(group, paths); });
  }
  if (paths.size() > kPathsMax) paths.resize(kPathsMax);
  return paths;
}

void Discovery::run_once() {
  if (call_ != 0 || clock_() < next_) return;
  gathered_ = {};
  paths_ = {"/apis", "/api"};
  ask();
}

void Discovery::ask() {
  if (paths_.empty()) {
    served_ = std::move(gathered_);
    known_ = true;
    error_.reset();
    next_ = clock_() + kPeriod;
    return;
  }
  const std::string path = paths_.back();
  paths_.pop_back();
  ApiRequest request;
  request.verb = Verb::discover;
  request.path = path;
  request.accept = kAccept;
  call_ = client_.call(std::move(request), [this, path](const Outcome& outcome) { answered(path, outcome); });
}

void Discovery::answered(const std::string& path, const Outcome& outcome) {
  call_ = 0;
  JsonDocument document;
  const Result<Json> body = outcome.ok() ? document.parse(outcome.body) : Result<Json>(Json());
  const bool whole_api = path == "/api" || path == "/apis";
  if (!outcome.ok() || !body) {
    error_ = outcome.error;
    if (!body) error_->message = path + " is " + body.error().message;
    // If the extension server of a group is unreachable, the group is left out. If a root list cannot be read,
    // discovery starts again later.
    if (!whole_api && outcome.kind == Outcome::Kind::refused) return ask();
    next_ = clock_() + kRetryAfter;
    return;
  }
  if (!whole_api) {
    gathered_.append(read_resource_list(*body));
  } else if ((*body)["kind"].text() == "APIGroupDiscoveryList") {
    gathered_.append(read_aggregated_discovery(*body));
  } else {
    std::vector<std::string> paths = read_version_paths(*body);
    paths_.insert(paths_.end(), paths.rbegin(), paths.rend());
  }
  ask();
}

}  // namespace capstan::kube
