#include "kube/device_views.h"

#include <string_view>

namespace capstan::kube {
namespace {

constexpr std::string_view kExtendedResourceClaim = "resource.kubernetes.io/extended-resource-claim";

/// Returns the text of an attribute. A name without a domain belongs to the driver's own domain.
std::string attribute(Json attributes, std::string_view driver, std::string_view name) {
  const Json plain = attributes[name];
  const Json found = plain.exists() ? plain : attributes[std::string(driver) + "/" + std::string(name)];
  return found["string"].string();
}

Device read_device(Json device, std::string_view driver) {
  const Json basic = device["basic"];  // v1beta1
  const Json attributes = basic.exists() ? basic["attributes"] : device["attributes"];
  return {.name = device["name"].string(),
          .type = attribute(attributes, driver, "type"),
          .uuid = attribute(attributes, driver, "uuid"),
          .parent_uuid = attribute(attributes, driver, "parentUUID"),
          .product = attribute(attributes, driver, "productName")};
}

/// Returns the node that a node selector selects by its field `metadata.name`; empty if it may select other nodes.
std::string only_node_of(Json selector) {
  std::string node;
  std::size_t terms = 0;
  selector["nodeSelectorTerms"].for_each([&](Json term) {
    ++terms;
    term["matchFields"].for_each([&](Json field) {
      const bool names = field["key"].text() == "metadata.name" && field["operator"].text() == "In";
      if (names) field["values"].for_each([&](Json value) { node = value.text(); });
    });
  });
  return terms == 1 ? node : std::string();
}

}  // namespace

ResourceSlice read_resource_slice(Json object) {
  const Json spec = object["spec"];
  ResourceSlice slice{.meta = read_meta(object),
                      .driver = spec["driver"].string(),
                      .pool = spec["pool"]["name"].string(),
                      .generation = spec["pool"]["generation"].integer(),
                      .node = spec["nodeName"].string(),
                      .devices = {}};
  spec["devices"].for_each([&](Json device) { slice.devices.push_back(read_device(device, slice.driver)); });
  return slice;
}

ResourceClaim read_resource_claim(Json object) {
  const Json allocation = object["status"]["allocation"];
  ResourceClaim claim{
      .meta = read_meta(object),
      .grants = {},
      .node = only_node_of(allocation["nodeSelector"]),
      .reserved_for = {},
      .is_for_extended_resource = object["metadata"]["annotations"][kExtendedResourceClaim].text() == "true"};
  allocation["devices"]["results"].for_each([&](Json result) {
    if (result["adminAccess"].boolean()) return;
    claim.grants.push_back({result["driver"].string(), result["pool"].string(), result["device"].string()});
  });
  object["status"]["reservedFor"].for_each([&](Json user) {
    const bool is_pod = user["resource"].text() == "pods" && user["apiGroup"].text().empty();
    if (is_pod) claim.reserved_for.push_back(user["uid"].string());
  });
  return claim;
}

}  // namespace capstan::kube
