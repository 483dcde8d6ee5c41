#pragma once

#include <string>

#include "explain/object.h"
#include "model/catalog.h"
#include "model/plan.h"

// The alternatives of single decisions as text. These functions compute nothing, as in explain.h.
namespace capstan::explain {

/// Returns the places that one search for room considered, one per line, without an end of line at the end.
std::string places(const model::Catalog& catalog, const decide::place::Search& search);
/// Returns the purchases that were considered for the same pods, one per line, without an end of line at the end.
std::string offers(const model::Catalog& catalog, const decide::provision::OfferComparison& comparison);

/// Returns the places and purchases that were considered for a gang; empty if the decisions contain none for this gang.
std::string candidates(const model::Catalog& catalog, const LayerDecisions& decided, model::GangId gang);

/// Returns the arithmetic of one action: for replicas, the sizing of their service; for pods, the places that were
/// considered; for nodes, the purchases that were considered. For an action without arithmetic, returns its `line`.
std::string arithmetic(const model::Catalog& catalog, const LayerDecisions& decided, const model::Action& action);

/// Returns the object that `capstan explain` takes for an action: the name of a service, or a kind and an id such as
/// "gang 7". Returns an empty text for an action on a group of claims, and for nodes that are launched for no gang.
std::string object_of(const model::Catalog& catalog, const model::Action& action);

}  // namespace capstan::explain
