#include "explain/candidates.h"

#include <gtest/gtest.h>

#include "explain/explain.h"

namespace capstan::explain {
namespace {

using decide::place::Candidate;
using decide::place::Search;
using decide::provision::Offer;
using decide::provision::OfferComparison;

model::Catalog candidates_catalog() {
  model::Catalog c;
  c.gpu_kinds = {"H100"};
  c.domains = {{"zone-a", model::TopologyLevel::zone, {}},
               {"rack-1", model::TopologyLevel::rack, {0}},
               {"rack-2", model::TopologyLevel::rack, {0}},
               {"rack-3", model::TopologyLevel::rack, {0}}};
  model::Offering offering;
  offering.instance_type = "p5.48xlarge";
  offering.gpu = {0};
  offering.zone = {0};
  c.offerings = {offering, offering};
  c.offerings[1].capacity = model::CapacityType::spot;
  c.pools = {{.name = "h100", .offerings = {{0}, {1}}, .limits = {.gpus = 64}}};
  c.services.push_back({.name = "chat", .slo = {}, .workload = {}, .min_replicas = 1, .max_replicas = 9});
  return c;
}

Search search() {
  Search made{.gang = {7}, .level = model::TopologyLevel::rack, .gpu = {0}, .pods = 2, .gpus_per_pod = whole_gpus(8)};
  made.places = 9;
  made.candidates = {{.domain = {1}, .free = whole_gpus(16), .pods = 2, .outcome = Candidate::Outcome::chosen},
                     {.domain = {2}, .free = whole_gpus(24), .pods = 2, .outcome = Candidate::Outcome::worse_fit},
                     {.domain = {3}, .free = whole_gpus(14), .pods = 1, .outcome = Candidate::Outcome::too_small}};
  return made;
}

OfferComparison comparison() {
  OfferComparison made{.gang = {7}, .gpu = {0}, .gpus = whole_gpus(16)};
  made.offers = {
      {.purchase = {{0}, {1}}, .domain = {1}, .count = 2, .price = {40'000'000}, .outcome = Offer::Outcome::chosen},
      {.purchase = {{0}, {0}}, .count = 2, .price = {90'000'000}, .outcome = Offer::Outcome::not_cheapest}};
  return made;
}

constexpr const char* kPlaces =
    "Room is needed for 2 pods (8 H100 per pod) inside one rack; 9 racks have such GPUs:\n"
    "- rack-1: 16 GPUs free, room for 2 pods: chosen\n"
    "- rack-2: 24 GPUs free, room for 2 pods: rejected, another one that is at least as full has room too\n"
    "- rack-3: 14 GPUs free, room for 1 of 2 pods: rejected\n"
    "- 6 more, none with more room";
constexpr const char* kOffers =
    "Nodes for 16 H100 GPUs without room:\n"
    "- 2 x p5.48xlarge in zone-a (spot) of pool h100, all inside rack-1 for 40.00 USD/h: chosen\n"
    "- 2 x p5.48xlarge in zone-a (on-demand) of pool h100 for 90.00 USD/h: rejected, another one is cheaper or "
    "preferred";

TEST(Candidates, EachPlaceAndPurchaseSaysWhyItWasRejected) {
  EXPECT_EQ(places(candidates_catalog(), search()), kPlaces);
  EXPECT_EQ(offers(candidates_catalog(), comparison()), kOffers);
}

TEST(Candidates, OfAGangAreItsOwn) {
  decide::place::Decision place;
  place.searches = {search()};
  decide::provision::Decision provision;
  provision.offer_comparisons = {comparison()};
  const LayerDecisions decided{{}, place, provision};
  EXPECT_EQ(candidates(candidates_catalog(), decided, {7}), std::string(kPlaces) + "\n" + kOffers);
  EXPECT_EQ(candidates(candidates_catalog(), decided, {8}), "");
  EXPECT_TRUE(paragraph(candidates_catalog(), place).ends_with(kPlaces)) << "`capstan decide place` prints them too";
  EXPECT_TRUE(paragraph(candidates_catalog(), provision).ends_with(kOffers));
}

TEST(Arithmetic, BelongsToTheAction) {
  decide::place::Decision place;
  place.searches = {search()};
  decide::provision::Decision provision;
  provision.offer_comparisons = {comparison()};
  decide::scale::Decision scale;
  scale.service = {0};
  scale.why = {model::ReasonCode::nothing_to_do, {}};
  const LayerDecisions decided{{&scale, 1}, place, provision};
  const auto text = [&](const auto& what) {
    return arithmetic(candidates_catalog(), decided, {what, {model::ReasonCode::nothing_to_do, {}}});
  };
  EXPECT_TRUE(text(model::SetReplicas{.service = {0}, .replicas = 2, .drain = {}}).starts_with("chat: "));
  EXPECT_EQ(text(model::BindPods{.gang = {7}, .bindings = {}}), kPlaces);
  const model::LaunchNodes launch{.pool = {0}, .offering = {1}, .domain = {1}, .count = 2, .hold = {}, .gang = {7}};
  EXPECT_EQ(text(launch), kOffers);
  EXPECT_TRUE(text(model::TerminateNode{{3}}).starts_with("give back node 3: ")) << "it has no alternatives";
}

TEST(ObjectOf, IsWhatExplainTakes) {
  const model::Catalog c = candidates_catalog();
  EXPECT_EQ(object_of(c, {model::SetReplicas{.service = {0}, .replicas = 2, .drain = {}}, {}}), "chat");
  EXPECT_EQ(object_of(c, {model::BindPods{.gang = {7}, .bindings = {}}, {}}), "gang 7");
  EXPECT_EQ(object_of(c, {model::TerminateNode{{3}}, {}}), "node 3");
  EXPECT_EQ(object_of(c, {model::ReleaseGroup{{1}}, {}}), "");
}

}  // namespace
}  // namespace capstan::explain
