#pragma once

#include <string>
#include <vector>

#include "plan/against/match.h"
#include "plan/objects/yaml.h"

// Rewrites planned objects in the terms of the existing ones: their namespace, labels, ports and Secret. An advised
// value then works in the file in which the user writes it.
namespace capstan::plan {

/// A label of the plan whose existing value must stay, because the workload's selector uses it.
struct LabelTerm {
  std::string key{};
  std::string planned{};
  std::string existing{};
};

/// The port on which the engine of an existing workload listens.
struct PortTerm {
  std::string workload{};  ///< name of the planned workload
  std::string planned_name{}, existing_name{};
  std::string planned_number{}, existing_number{};
};

/// The key of the Secret with the token by which the weights are downloaded.
struct TokenTerm {
  std::string secret{};  ///< empty: the existing pods name none
  std::string key{};
};

/// Terms of existing objects that differ from the plan's.
struct Terms {
  std::string planned_namespace{};
  std::string existing_namespace{};  ///< namespace of a paired workload if it is not the plan's; otherwise empty
  std::string namespace_source{};    ///< object that states this namespace: "Deployment chat"
  std::vector<LabelTerm> labels{};
  std::vector<PortTerm> ports{};
  TokenTerm token{};
};

Terms terms_of(const std::vector<ObjectMatch>& matches);

/// Returns a planned object with the namespace, the labels, the ports and the Secret that exist.
Yaml in_terms(const Yaml& planned, const Terms& terms);

/// Returns what to write differently in a planned object: "before you apply it, write the namespace llm in place of
/// inference". Empty: it fits.
std::string how_to_adapt(const Yaml& planned, const Terms& terms);

/// Returns notes about the whole comparison: a namespace that the spec does not have.
std::vector<std::string> comparison_notes(const Plan& plan, const std::vector<ExistingObject>& existing);

}  // namespace capstan::plan
