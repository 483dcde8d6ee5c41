#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "manifest/document.h"

// The places where objects contain pods. For known kinds, data/lint/pod_shapes.csv lists the paths. All other objects
// are searched.
namespace capstan::lint {

/// The way in which a kind's controller makes pods from its objects.
enum class PodMaker : std::uint8_t {
  serving,   ///< pods as written, which run until they are deleted
  plain,     ///< pods as written: jobs, node agents, single pods
  operated,  ///< pods to which an operator adds probes, volumes or environment
  grouped,   ///< like `operated`; one engine or job may span several pods
  merged,    ///< like `grouped`, and merged with a template in another object
};

/// One place where the objects of a kind hold pods.
struct PodShape {
  std::string_view kind;
  std::vector<std::string_view> groups;  ///< API groups; an empty text is the core group
  PodMaker maker = PodMaker::plain;
  std::string_view unit;       ///< path to the value that is repeated once per pod
  std::string_view metadata;   ///< path from `unit`; if empty, the object's own metadata
  std::string_view spec;       ///< path from `unit` to the pod specification
  std::string_view container;  ///< path from `unit` to the only container; if empty, the specification lists the
                               ///< containers
};

/// Returns the rows of a kind in a group; none if the kind is not known to hold pods.
std::span<const PodShape> pod_shapes(std::string_view kind, std::string_view group);
/// Returns all rows, sorted by kind.
std::span<const PodShape> pod_shapes();
/// Returns the rows of a kind, whatever its API group.
std::span<const PodShape> pod_shapes(std::string_view kind);

/// Calls `visit(metadata, spec)` for everything in an object that looks like a pod. `metadata` may be missing.
void search_pods(const manifest::Value& root,
                 const std::function<void(const manifest::Value&, const manifest::Value&)>& visit);

/// Returns true if anything in an object looks like pods.
bool holds_pods(const manifest::Value& root);

/// Returns true for the groups of policies and definitions, whose objects describe pods but make none.
bool describes_pods_only(std::string_view group);

}  // namespace capstan::lint
