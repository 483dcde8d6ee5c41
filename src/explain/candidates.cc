#include "explain/candidates.h"

#include <fmt/format.h>

#include <algorithm>

#include "explain/explain.h"
#include "explain/words.h"
#include "model/capacity_names.h"
#include "model/reason_sentence.h"

namespace capstan::explain {
namespace {

using decide::place::Candidate;
using decide::place::Search;
using decide::provision::Offer;
using decide::provision::OfferComparison;

std::string paragraphs(std::string text, const std::string& next) {
  if (!text.empty() && !next.empty()) text += '\n';
  return text + next;
}

std::string outcome_text(const Search& search, const Candidate& candidate) {
  const std::string room = candidate.pods == search.pods ? "room for " + count_text(search.pods, "pod", "pods")
                                                         : fmt::format("room for {} of {}", candidate.pods,
                                                                       count_text(search.pods, "pod", "pods"));
  switch (candidate.outcome) {
    case Candidate::Outcome::chosen:
      return room + ": chosen";
    case Candidate::Outcome::worse_fit:
      return room + ": rejected, another one that is at least as full has room too";
    case Candidate::Outcome::too_small:
      return room + ": rejected";
    case Candidate::Outcome::not_allowed:
      return "rejected, the pods may not run there";
    case Candidate::Outcome::has_share:
      return "rejected, it has its share of the replicas";
  }
  return {};
}

std::string place_name(const model::Catalog& catalog, const Search& search, const Candidate& candidate) {
  if (search.level == model::TopologyLevel::node) return fmt::format("node {}", candidate.node.value);
  return candidate.domain.valid() ? domain_name(catalog, candidate.domain) : "the cluster";
}

std::string offer_text(const model::Catalog& catalog, const Offer& offer) {
  const model::Offering& sold = catalog.offering(offer.purchase.offering);
  std::string text = offer.count > 0 ? fmt::format("{} x ", offer.count) : std::string();
  text += fmt::format("{} ({}) of pool {}", offering_name(catalog, offer.purchase.offering),
                      model::name(sold.capacity).label, pool_name(catalog, offer.purchase.pool));
  if (offer.domain.valid() && offer.domain != sold.zone) text += ", all inside " + domain_name(catalog, offer.domain);
  if (offer.price > MicroUsd{}) text += " for " + price_text(offer.price);
  switch (offer.outcome) {
    case Offer::Outcome::chosen:
      return text + ": chosen";
    case Offer::Outcome::not_cheapest:
      return text + ": rejected, another one is cheaper or preferred";
    case Offer::Outcome::refused:
      return text + ": refused, " + sentence(offer.why, catalog);
    case Offer::Outcome::too_small:
      if (offer.why.code == model::ReasonCode::node_lacks_resource)
        return text + ": rejected, " + sentence(offer.why, catalog);
      return text + ": rejected, its nodes do not hold the pods";
    case Offer::Outcome::not_allowed:
      return text + ": rejected, the replica may not use it";
  }
  return text;
}

/// Returns true if the launch follows from the comparison.
bool led_to(const OfferComparison& comparison, const model::LaunchNodes& launch) {
  if (launch.gang.valid() && comparison.gang != launch.gang) return false;
  return std::ranges::any_of(comparison.offers, [&](const Offer& offer) {
    return offer.outcome == Offer::Outcome::chosen && offer.purchase == model::Purchase{launch.pool, launch.offering} &&
           offer.domain == launch.domain && offer.count == launch.count;
  });
}

struct ActionArithmetic {
  const model::Catalog& catalog;
  const LayerDecisions& decided;

  std::string of_service(model::ServiceId service) const {
    const auto found = std::ranges::find(decided.scale, service, &decide::scale::Decision::service);
    return found == decided.scale.end() ? std::string() : paragraph(catalog, *found);
  }
  std::string operator()(const model::SetReplicas& action) const { return of_service(action.service); }
  std::string operator()(const model::ConvertReplica& action) const { return of_service(action.from); }
  std::string operator()(const model::BindPods& action) const {
    std::string text;
    for (const Search& search : decided.place.searches) {
      if (search.gang == action.gang) text = paragraphs(std::move(text), places(catalog, search));
    }
    return text;
  }
  std::string operator()(const model::LaunchNodes& action) const {
    const auto found =
        std::ranges::find_if(decided.provision.offer_comparisons,
                             [&](const OfferComparison& comparison) { return led_to(comparison, action); });
    return found == decided.provision.offer_comparisons.end() ? std::string() : offers(catalog, *found);
  }
  std::string operator()(const auto&) const { return {}; }
};

struct ActionObject {
  const model::Catalog& catalog;

  std::string operator()(const model::SetReplicas& action) const { return service_name(catalog, action.service); }
  std::string operator()(const model::ConvertReplica& action) const { return gang(action.gang); }
  std::string operator()(const model::BindPods& action) const { return gang(action.gang); }
  std::string operator()(const model::LaunchNodes& action) const { return gang(action.gang); }
  std::string operator()(const model::ReleaseGroup&) const { return {}; }
  std::string operator()(const model::TerminateNode& action) const { return fmt::format("node {}", action.node.value); }
  std::string operator()(const model::EvictPod& action) const { return fmt::format("pod {}", action.pod.value); }
  static std::string gang(model::GangId id) { return id.valid() ? fmt::format("gang {}", id.value) : std::string(); }
};

}  // namespace

std::string places(const model::Catalog& catalog, const Search& search) {
  const std::string_view level = catalog.level_words(search.level);
  std::string text = fmt::format(
      "Room is needed for {} ({} {} per pod) inside one {}; {} {}{} such GPUs:", count_text(search.pods, "pod", "pods"),
      gpus_text(search.gpus_per_pod), gpu_name(catalog, search.gpu), level, search.places, level,
      search.places == 1 ? " has" : "s have");
  if (search.candidates.empty()) text.back() = '.';
  for (const Candidate& candidate : search.candidates) {
    text += fmt::format("\n- {}: {} GPUs free, {}", place_name(catalog, search, candidate), gpus_text(candidate.free),
                        outcome_text(search, candidate));
  }
  const std::int64_t others = search.places - std::ssize(search.candidates);
  if (others > 0 && !search.candidates.empty()) text += fmt::format("\n- {} more, none with more room", others);
  return text;
}

std::string offers(const model::Catalog& catalog, const OfferComparison& comparison) {
  std::string text =
      fmt::format("Nodes for {} {} GPUs without room:", gpus_text(comparison.gpus), gpu_name(catalog, comparison.gpu));
  if (comparison.offers.empty()) text += "\n- no pool offers such GPUs in a domain that completes the replica";
  for (const Offer& offer : comparison.offers) text += "\n- " + offer_text(catalog, offer);
  if (comparison.left_out > 0) text += fmt::format("\n- {} more", comparison.left_out);
  return text;
}

std::string candidates(const model::Catalog& catalog, const LayerDecisions& decided, model::GangId gang) {
  std::string text;
  for (const Search& search : decided.place.searches) {
    if (search.gang == gang) text = paragraphs(std::move(text), places(catalog, search));
  }
  for (const OfferComparison& comparison : decided.provision.offer_comparisons) {
    if (comparison.gang == gang) text = paragraphs(std::move(text), offers(catalog, comparison));
  }
  return text;
}

std::string arithmetic(const model::Catalog& catalog, const LayerDecisions& decided, const model::Action& action) {
  std::string text = std::visit(ActionArithmetic{catalog, decided}, action.effect);
  return text.empty() ? line(catalog, action) + "." : text;
}

std::string object_of(const model::Catalog& catalog, const model::Action& action) {
  return std::visit(ActionObject{catalog}, action.effect);
}

}  // namespace capstan::explain
