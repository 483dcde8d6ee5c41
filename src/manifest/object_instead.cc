#include "manifest/object_instead.h"

#include <fmt/format.h>

namespace capstan::manifest {

std::optional<Error> object_instead_of(const Node& root, std::string_view expected) {
  const Node* kind = root.find("kind");
  if (root.find("apiVersion") == nullptr || kind == nullptr || kind->kind != Node::Kind::scalar) return std::nullopt;
  return error_at(root.place, fmt::format("found a Kubernetes object of kind {}, expected {}; `capstan lint` reads "
                                          "manifests",
                                          kind->words(), expected));
}

}  // namespace capstan::manifest
