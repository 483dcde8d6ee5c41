#include <fmt/format.h>

#include "base/number_text.h"
#include "plan/read/read_parts.h"

namespace capstan::plan {

namespace {

using namespace std::chrono_literals;
using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

constexpr std::string_view kMeasureYours = "published values (data/cold_start.csv), not measured on your machines";

std::string range_words(const DurationRange& range) {
  if (range.low == range.high) return time_text(range.low);
  return fmt::format("{} to {}", time_text(range.low), time_text(range.high));
}

/// Reads a duration as both ends of a range. Returns false if the file states none.
bool read_range(Fields& fields, std::string_view key, DurationRange& out) {
  Duration stated{};
  if (!fields.duration(key, stated, 0s, 2h)) return false;
  out = {stated, stated};
  return true;
}

/// Returns an empty mapping, in which every key is a default.
Node empty_mapping() { return {.kind = Node::Kind::mapping, .place = {}, .text = {}, .items = {}, .entries = {}}; }

}  // namespace

void read_spec_node_start(Fields& fields, PlanSpec& spec, ErrorList& errors) {
  const bool buys = spec.cluster.provisioner != Provisioner::none;
  const Node* node = fields.take("node_start");
  const Node none = empty_mapping();
  Fields start(node == nullptr ? none : *node, "cluster.node_start", errors);
  NodeStartSpec& times = spec.cluster.node_start;
  read_range(start, "boot", times.boot);
  read_range(start, "driver", times.driver);
  start.finish();
  if (!buys) return;
  DefaultList defaults(spec.defaults);
  defaults.note(start, "boot", range_words(times.boot), fmt::format("virtual machine and kubelet; {}", kMeasureYours));
  defaults.note(start, "driver", range_words(times.driver), fmt::format("driver and plugin; {}", kMeasureYours));
}

void read_spec_cold_start(Fields& fields, const std::string& owner, ServiceSpec& service, PlanSpec& spec,
                          ErrorList& errors) {
  const Node* node = fields.take("cold_start");
  const Node none = empty_mapping();
  Fields start(node == nullptr ? none : *node, owner + ".cold_start", errors);
  ColdStartSpec& times = service.cold_start;
  start.duration("image_pull", times.image_pull, 0s, 2h);
  if (start.take("weights") != nullptr) start.duration("weights", times.weights.emplace(), 0s, 2h);
  if (read_range(start, "engine_start", times.engine_start)) times.engine_start_cached = times.engine_start;
  read_range(start, "warm_up", times.warm_up);
  start.finish();
  DefaultList defaults(spec.defaults);
  defaults.note(start, "image_pull", time_text(times.image_pull),
                "10 GB at 53 MB/s, a pull measured on AWS (data/cold_start.csv)");
  defaults.note(start, "weights", fmt::format("{} MB/s", kWeightsBytesPerS / 1'000'000),
                "from an object store; the middle of 200 MB/s to 1 GB/s (data/cold_start.csv)");
  defaults.note(start, "engine_start",
                fmt::format("{}, {} with a compile cache", range_words(times.engine_start),
                            range_words(times.engine_start_cached)),
                "8B model (data/cold_start.csv); a larger one takes longer");
  defaults.note(start, "warm_up", range_words(times.warm_up), "one first request took 3.7 s (data/cold_start.csv)");
}

}  // namespace capstan::plan
