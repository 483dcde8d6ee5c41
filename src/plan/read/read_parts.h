#pragma once

#include <string>
#include <string_view>

#include "manifest/fields.h"
#include "plan/spec/spec.h"

// The readers of the parts of a spec. An error goes into the list of errors, and reading goes on with a default.
namespace capstan::plan {

/// Returns true if the mapping has a value for the key. A key without a value is as if it were not there.
bool is_stated(const manifest::Fields& fields, std::string_view key);

/// Returns "s.yaml:14:3".
std::string place_words(const manifest::Place& place);

/// Collects the defaults that a spec uses.
class DefaultList {
 public:
  explicit DefaultList(std::vector<DefaultUsed>& out) : out_(out) {}
  /// Notes a default if the mapping lacks the key.
  void note(const manifest::Fields& fields, std::string_view key, std::string value, std::string why,
            DefaultKind kind = DefaultKind::figure);

 private:
  std::vector<DefaultUsed>& out_;
};

/// Reads the cluster. Without machines of its own, it has those of the catalogue.
/// @param node  null: the spec has no cluster, and all of it is a default
void read_spec_cluster(const manifest::Node* node, PlanSpec& spec, manifest::ErrorList& errors);

/// Reads the start of a machine. Notes the defaults that it uses.
/// @param fields  mapping of the cluster
void read_spec_node_start(manifest::Fields& fields, PlanSpec& spec, manifest::ErrorList& errors);

/// Reads the start of a replica. Notes the defaults that it uses.
/// @param fields  mapping of the service
/// @param owner   path of the service, for messages: "services.chat"
void read_spec_cold_start(manifest::Fields& fields, const std::string& owner, ServiceSpec& service, PlanSpec& spec,
                          manifest::ErrorList& errors);

/// Reads one service. Needs `PlanSpec::engines`.
ServiceSpec read_spec_service(const manifest::Node& node, PlanSpec& spec, manifest::ErrorList& errors);

/// Reads the load of a service, whose model and SLO are known.
/// @param owner  the service's path, for messages: "services.chat"
void read_spec_load(const manifest::Node* node, const std::string& owner, ServiceSpec& service, PlanSpec& spec,
                    manifest::ErrorList& errors);

/// Reads the server on which a load is measured.
void read_spec_measure(const manifest::Node& node, const std::string& owner, MeasureSpec& measure, PlanSpec& spec,
                       manifest::ErrorList& errors);
/// Reads the tenants. A spec without tenants gets one, which is named "production".
void read_spec_tenants(manifest::Fields& root, PlanSpec& spec, manifest::ErrorList& errors);
/// Reads the jobs of a tenant, whose kind and priority are known.
void read_spec_jobs(manifest::Fields& fields, TenantSpec& tenant, PlanSpec& spec, manifest::ErrorList& errors);
/// Gives jobs to each training and batch tenant for which the spec has neither jobs nor a service.
void assume_jobs(PlanSpec& spec);
void read_spec_limits(manifest::Fields& root, PlanSpec& spec, manifest::ErrorList& errors);
void read_spec_staff(manifest::Fields& root, PlanSpec& spec, manifest::ErrorList& errors);
void read_spec_asked(manifest::Fields& root, PlanSpec& spec, manifest::ErrorList& errors);

/// Checks that a name is valid for Kubernetes objects. The plan names objects "NAME" and "NAME-prefill".
/// @param key  key of the name in the mapping; must be present
/// @param may_begin_with_digit  false for the names of Services of Kubernetes
void check_kube_name(const manifest::Fields& fields, std::string_view key, const std::string& name,
                     bool may_begin_with_digit, manifest::ErrorList& errors);

/// Returns the path of a file that the spec names. A relative path of a spec starts at the folder of the spec.
std::string spec_relative(const PlanSpec& spec, const std::string& path);

}  // namespace capstan::plan
