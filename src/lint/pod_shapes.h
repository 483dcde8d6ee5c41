#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "manifest/document.h"

// Where objects hold pods: a table of paths for the kinds that are known (data/lint/pod_shapes.csv), a search for all
// others.
namespace capstan::lint {

/// What a kind's controller makes of the pods that its objects hold.
enum class PodMaker : std::uint8_t {
  serving,   ///< pods as they are written, which run until they are deleted
  plain,     ///< pods as they are written: jobs, agents of nodes, single pods
  operated,  ///< pods to which an operator adds probes, volumes, environment
  grouped,   ///< as `operated`, and one engine or job may span several of them
  merged,    ///< as `grouped`, and merged with a template that is written elsewhere
};

/// One place of a kind's objects that holds pods.
struct PodShape {
  std::string_view kind;
  std::vector<std::string_view> groups;  ///< API groups; empty text for the core
  PodMaker maker = PodMaker::plain;
  std::string_view unit;       ///< path to what is repeated once for each pod
  std::string_view metadata;   ///< path from there; empty: the object's own metadata
  std::string_view spec;       ///< path from there to the pod's specification
  std::string_view container;  ///< path from there to its only container; empty: the specification lists them
};

/// Returns the rows of a kind in a group; none where it holds no pods that we know of.
std::span<const PodShape> pod_shapes(std::string_view kind, std::string_view group);
/// Returns all rows, by kind.
std::span<const PodShape> pod_shapes();
/// Returns the rows of a kind in every group.
std::span<const PodShape> pod_shapes(std::string_view kind);

/// Calls `visit(metadata, spec)` for everything in an object that looks like pods: `metadata` is missing where a
/// specification stands alone.
void search_pods(const manifest::Value& root,
                 const std::function<void(const manifest::Value&, const manifest::Value&)>& visit);

/// Returns true if anything in an object looks like pods.
bool holds_pods(const manifest::Value& root);

/// Returns true for groups of policies and definitions, which describe pods and make none.
bool describes_pods_only(std::string_view group);

}  // namespace capstan::lint
