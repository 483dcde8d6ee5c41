#include "plan/against/difference.h"

#include <algorithm>
#include <map>
#include <set>

#include "plan/against/compare_object.h"
#include "plan/against/match.h"
#include "plan/against/saving.h"

namespace capstan::plan {

namespace {

/// Returns the options of each choice for which an object exists.
std::map<std::string, std::set<std::string>> present_options(const std::vector<ObjectMatch>& matches) {
  std::map<std::string, std::set<std::string>> present;
  for (const ObjectMatch& match : matches) {
    const Alternative& alternative = match.planned->alternative;
    if (match.existing != nullptr && !alternative.choice.empty())
      present[alternative.choice].insert(alternative.option);
  }
  return present;
}

Difference absent_object(const ObjectMatch& match) {
  const Yaml& body = match.planned->body;
  return {.kind = Difference::Kind::add,
          .file = match.planned->file,
          .object = text_at(body, "kind") + " " + text_at(body, "metadata", "name"),
          .planned = body};
}

}  // namespace

std::vector<Difference> find_differences(const Plan& plan, const std::vector<ExistingObject>& existing) {
  const std::vector<ObjectMatch> matches = match_objects(plan, existing);
  const Renames renames = renames_of(matches);
  const auto present = present_options(matches);
  std::vector<Difference> out;
  for (const ObjectMatch& match : matches) {
    const Alternative& alternative = match.planned->alternative;
    const auto options = present.find(alternative.choice);
    const bool is_used =
        alternative.choice.empty() ||
        (options == present.end() ? alternative.is_chosen : options->second.contains(alternative.option));
    if (!is_used) continue;
    std::vector<Difference> changes = match.existing == nullptr
                                          ? std::vector{absent_object(match)}
                                          : compare_object(*match.planned, *match.existing, renames);
    for (Difference& change : changes) {
      change.saving = saving_of(plan, *match.planned, change);
      out.push_back(std::move(change));
    }
  }
  std::ranges::stable_sort(out, [](const Difference& a, const Difference& b) {
    const auto money = [](const Difference& change) {
      return std::max<std::int64_t>(change.saving.micro_usd_per_month.value_or(0), 0);
    };
    if (money(a) != money(b)) return money(a) > money(b);
    return a.saving.grade < b.saving.grade;
  });
  return out;
}

}  // namespace capstan::plan
