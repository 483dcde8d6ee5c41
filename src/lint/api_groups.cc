#include "lint/api_groups.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/similar_names.h"
#include "lint/bundled_facts.h"
#include "lint/fact_rows.h"
#include "lint/facts.h"

namespace capstan::lint {
namespace {

/// A kind in one API group. The first version is the one to use.
struct ApiGroup {
  std::string_view kind, group;
  std::vector<std::string_view> versions;
  std::string_view product;
  std::string api_version{};

  bool is_kubernetes() const { return product == "Kubernetes"; }
  bool has_all_versions() const { return is_kubernetes() || product == "KEDA" || product == "Karpenter"; }
};

/// Returns the table, sorted by kind. Rows of one kind keep the order of the file.
const std::vector<ApiGroup>& group_table() {
  static const std::vector<ApiGroup> groups = [] {
    std::vector<ApiGroup> list;
    for (const auto& row : fact_rows(kApiGroupsCsv)) {
      ApiGroup group{.kind = row[0], .group = row[1], .versions = split(row[2], ' '), .product = row[3]};
      group.api_version = (row[1].empty() ? "" : std::string(row[1]) + "/") + std::string(group.versions.front());
      list.push_back(std::move(group));
    }
    std::ranges::stable_sort(list, {}, &ApiGroup::kind);
    return list;
  }();
  return groups;
}

/// Returns the row that a wrong group means; null if it may be the group of an unknown product.
const ApiGroup* meant_by(std::string_view group, std::span<const ApiGroup> rows) {
  constexpr std::size_t kMaxEdits = 2;
  const auto edits = [&](const ApiGroup& row) { return edit_distance(group, row.group); };
  const auto nearest = std::ranges::min_element(rows, {}, edits);
  // Only two names that are not empty can be similar: every short name is within two edits of the core group's empty
  // name.
  if (!nearest->group.empty() && !group.empty() && edits(*nearest) <= kMaxEdits) return &*nearest;
  if (group.contains('.')) return nullptr;
  const auto own = std::ranges::find_if(rows, &ApiGroup::is_kubernetes);
  return own != rows.end() ? &*own : rows.size() == 1 ? &rows.front() : nullptr;
}

}  // namespace

std::optional<IntendedApi> intended_api(std::string_view kind, std::string_view api_version) {
  const auto found = std::ranges::equal_range(group_table(), kind, {}, &ApiGroup::kind);
  const std::span<const ApiGroup> rows(found.begin(), found.end());
  const bool is_variable = api_version.find_first_of("$<{%") != api_version.npos;
  if (rows.empty() || is_variable || removed_api(api_version, kind) != nullptr) return std::nullopt;
  const std::size_t slash = api_version.find('/');
  const std::string_view group = slash == api_version.npos ? "" : api_version.substr(0, slash);
  const std::string_view version = slash == api_version.npos ? api_version : api_version.substr(slash + 1);
  const auto same = std::ranges::find(rows, group, &ApiGroup::group);
  const ApiGroup* meant = same == rows.end() ? meant_by(group, rows) : &*same;
  if (meant == nullptr) return std::nullopt;
  const bool has_version = std::ranges::find(meant->versions, version) != meant->versions.end();
  const bool is_group_wrong = same == rows.end();
  if (!is_group_wrong && (has_version || !meant->has_all_versions())) return std::nullopt;
  return IntendedApi{.api_version = meant->api_version,
                     .group = meant->group,
                     .version = meant->versions.front(),
                     .product = meant->product,
                     .is_group_wrong = is_group_wrong};
}

}  // namespace capstan::lint
