#pragma once

#include <string>

#include "base/error.h"
#include "manifest/yaml.h"

// Our objects are described once, in schema/crds/: a kind, its columns, and its fields with bounds and a sentence each.
// What Kubernetes and people want to see of them is generated.
namespace capstan::schema {

/// The CustomResourceDefinition (apiextensions.k8s.io/v1) of a description, as YAML.
/// @return an input error with its place where the description has a key or type that is not known
Result<std::string> crd_yaml(const manifest::Node& description);

/// The reference page of a description, as Markdown: every field with type, default, bounds and sentence.
Result<std::string> reference_page(const manifest::Node& description);

}  // namespace capstan::schema
