#pragma once

#include <string>

#include "base/error.h"
#include "manifest/yaml.h"

// Generates CustomResourceDefinitions and reference pages from schema/crds/. A description has a kind, its columns and
// its fields. Each field has its bounds and a sentence.
namespace capstan::schema {

/// Generates the CustomResourceDefinition (apiextensions.k8s.io/v1) of a description, as YAML.
/// @return an input error with its place if the description has an unknown key or type
Result<std::string> crd_yaml(const manifest::Node& description);

/// Generates the reference page of a description, as Markdown: each field with its type, default, bounds and
/// description.
Result<std::string> reference_page(const manifest::Node& description);

}  // namespace capstan::schema
