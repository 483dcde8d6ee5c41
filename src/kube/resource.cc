#include "kube/resource.h"

#include "net/url.h"

namespace capstan::kube {

std::string Resource::api_version() const { return group.empty() ? version : group + "/" + version; }
std::string Resource::name() const { return group.empty() ? plural : plural + "." + group; }

std::string path_of(const Resource& resource, std::string_view ns, std::string_view name,
                    std::string_view subresource) {
  std::string path = (resource.group.empty() ? "/api/" : "/apis/") + resource.api_version();
  if (resource.namespaced && !ns.empty()) path += "/namespaces/" + net::percent_encode(ns);
  path += "/" + resource.plural;
  if (!name.empty()) path += "/" + net::percent_encode(name);
  if (!subresource.empty()) path += "/" + std::string(subresource);
  return path;
}

}  // namespace capstan::kube
