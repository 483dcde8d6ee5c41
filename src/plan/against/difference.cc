#include "plan/against/difference.h"

#include <algorithm>
#include <map>
#include <set>

#include "plan/against/compare_object.h"
#include "plan/against/double_scaler.h"
#include "plan/against/match.h"
#include "plan/against/monitor.h"
#include "plan/against/reasons.h"
#include "plan/against/saving.h"
#include "plan/against/terms.h"

namespace capstan::plan {

namespace {

/// The autoscalers that the plan advises to delete.
class Deletions {
 public:
  Deletions(const std::vector<ObjectMatch>& matches, const std::vector<ExistingObject>& existing)
      : scalers_(double_scalers(matches, existing)) {}

  bool contains(const ExistingObject* object) const {
    return std::ranges::find(scalers_, object, &DoubleScaler::deleted) != scalers_.end();
  }
  const std::vector<DoubleScaler>& scalers() const { return scalers_; }

 private:
  std::vector<DoubleScaler> scalers_;
};

/// Returns the options in use for each choice (`Alternative`). An option is in use if one of its objects exists and the
/// plan does not advise to delete that object.
std::map<std::string, std::set<std::string>> present_options(const std::vector<ObjectMatch>& matches,
                                                             const Deletions& deletions) {
  std::map<std::string, std::set<std::string>> present;
  for (const ObjectMatch& match : matches) {
    const Alternative& alternative = match.planned->alternative;
    if (match.existing != nullptr && !alternative.choice.empty() && !deletions.contains(match.existing)) {
      present[alternative.choice].insert(alternative.option);
    }
  }
  return present;
}

Difference absent_object(const ObjectMatch& match, const Terms& terms) {
  const Yaml& body = match.planned->body;
  return {.kind = Difference::Kind::add,
          .file = match.planned->file,
          .object = text_at(body, "kind") + " " + text_at(body, "metadata", "name"),
          .planned = body,
          .caution = how_to_adapt(body, terms)};
}

/// Rewrites a planned object in the terms of the existing objects (terms.h), and compares it with its existing object.
std::vector<Difference> compare_pair(const ObjectMatch& match, const Terms& terms, const Renames& renames) {
  Manifest planned = *match.planned;
  planned.body = in_terms(planned.body, terms);
  const bool is_other_monitor =
      is_monitor(planned) && text_at(planned.body, "kind") == "PodMonitor" && match.existing->kind() != "PodMonitor";
  return compare_object(is_other_monitor ? part_for_service_monitor(planned) : planned, *match.existing, renames);
}

/// Puts changes that save the most money first, then changes that avoid the gravest risk.
void sort_changes(std::vector<Difference>& changes) {
  std::ranges::stable_sort(changes, [](const Difference& a, const Difference& b) {
    const auto money = [](const Difference& change) {
      return std::max<std::int64_t>(change.saving.micro_usd_per_month.value_or(0), 0);
    };
    if (money(a) != money(b)) return money(a) > money(b);
    return a.saving.grade < b.saving.grade;
  });
}

}  // namespace

std::vector<Difference> find_differences(const Plan& plan, const std::vector<ExistingObject>& existing) {
  const std::vector<ObjectMatch> matches = match_objects(plan, existing);
  const Deletions deletions(matches, existing);
  const Terms terms = terms_of(matches);
  Renames renames = renames_of(matches);
  // A probe may state a port by name or by number, so an existing number in place of the name is no change.
  for (const PortTerm& port : terms.ports) renames.emplace_back(port.existing_name, port.existing_number);
  const auto present = present_options(matches, deletions);
  std::vector<Difference> out;
  for (const DoubleScaler& scaler : deletions.scalers()) out.push_back(delete_scaler(scaler));
  for (const ObjectMatch& match : matches) {
    if (match.existing != nullptr && deletions.contains(match.existing)) continue;
    const Alternative& alternative = match.planned->alternative;
    const auto options = present.find(alternative.choice);
    const bool is_used =
        alternative.choice.empty() ||
        (options == present.end() ? alternative.is_chosen : options->second.contains(alternative.option));
    if (!is_used) continue;
    std::vector<Difference> changes =
        match.existing == nullptr ? std::vector{absent_object(match, terms)} : compare_pair(match, terms, renames);
    const bool keeps_replicas = match.existing != nullptr && is_scaled(*match.existing, matches, existing);
    for (Difference& change : changes) {
      if (keeps_replicas && change.path == "spec.replicas") continue;  // the existing autoscaler sets them
      change.saving = saving_of(plan, *match.planned, change);
      add_reason(text_at(match.planned->body, "kind"), change);
      out.push_back(std::move(change));
    }
  }
  sort_changes(out);
  return out;
}

}  // namespace capstan::plan
