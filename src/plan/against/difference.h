#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/against/existing_object.h"
#include "plan/result/plan.h"

namespace capstan::plan {

/// The saving of a change.
struct Saving {
  std::optional<std::int64_t> micro_usd_per_month{};  ///< saved money; negative: additional cost; nothing: unknown
  bool is_at_most = false;                            ///< the amount is an upper bound
  Evidence evidence = Evidence::modelled;             ///< origin of the amount
  std::string formula{};  ///< formula of the amount, or another effect on the bill: "...bounds the pool at 96.00 USD/h"
  std::string removed_risk{};  ///< risk that the change removes: "a burst that is served late"; empty: none is known
  int grade = 9;               ///< grade of the risk; 1 is the gravest
};

/// One change that turns existing objects into the plan's.
struct Difference {
  enum class Kind : std::uint8_t {
    set,     ///< a value is different or absent
    remove,  ///< a value or an object exists that should be removed
    add,     ///< a whole object is absent
  };
  Kind kind = Kind::set;
  std::string file{};             ///< file of the existing object; for an absent object, the plan's file
  std::uint32_t line = 0;         ///< line of the existing value, or of the mapping that lacks it; 0: no object
  std::string object{};           ///< "NodePool gpu", as it is named today
  std::string path{};             ///< "spec.disruption.consolidateAfter"; empty: the whole object
  std::optional<Yaml> found{};    ///< existing value; nothing: it is absent
  std::optional<Yaml> planned{};  ///< planned value; nothing: the value should be removed
  std::string why{};              ///< reason, a sentence without a full stop; empty: the saving or the risk says it
  std::string caution{};          ///< warning, or how to make the change safely, without a full stop; empty: none
  Saving saving{};
};

/// Compares the objects of a plan with existing ones (match.h). Values that the plan does not set are not compared, but
/// a metric of an autoscaler that the plan does not use is reported for removal. Names of objects, and references to
/// them, may differ. Among alternatives, such as a ScaledObject and an HPA, only those with an existing object are
/// compared. If none exists, the alternative that the plan chose is reported as absent. Of several autoscalers of one
/// target, one is compared, and the others are reported for removal. Planned values use the namespace of the existing
/// objects, the labels of their selectors, and their ports (terms.h).
/// @return changes that save the most money first, then by the grade of the risk
std::vector<Difference> find_differences(const Plan& plan, const std::vector<ExistingObject>& existing);

}  // namespace capstan::plan
