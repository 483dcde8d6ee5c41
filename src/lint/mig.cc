#include "lint/mig.h"

#include <fmt/format.h>

#include <algorithm>

namespace capstan::lint {
namespace {

/// The compute slices and the memory slots that a profile takes, and its possible first memory slots.
struct PlacementShape {
  std::int64_t slices = 0;
  std::int64_t memory = 0;
  std::vector<std::int64_t> places;
};

bool is_double_memory(const MigProduct& product, std::string_view profile) {
  // Two profiles have one compute slice. The one with fewer instances takes two memory slots.
  return product.memory_slots == 8 && profile.starts_with("1g.") && product.max_of(profile) == 4;
}

PlacementShape shape_of(const MigProduct& product, std::string_view profile) {
  const std::int64_t g = profile.empty() ? 0 : profile[0] - '0';
  if (product.memory_slots == 4) {
    if (g == 1) return {1, 1, {0, 1, 2, 3}};
    if (g == 2) return {2, 2, {0, 2}};
    return {4, 4, {0}};
  }
  if (is_double_memory(product, profile)) return {1, 2, {0, 2, 4, 6}};
  switch (g) {
    case 1:
      return {1, 1, {0, 1, 2, 3, 4, 5, 6}};
    case 2:
      return {2, 2, {0, 2, 4}};
    case 3:
      return {3, 4, {0, 4}};
    case 4:
      return {4, 4, {0}};
    default:
      return {7, 8, {0}};
  }
}

/// Searches for a placement of the shapes from `next` on, largest first. A GPU has at most eight slots, so the search
/// is short.
bool place(const std::vector<PlacementShape>& shapes, std::size_t next, std::uint32_t used, std::int64_t slices) {
  if (next == shapes.size()) return true;
  const PlacementShape& shape = shapes[next];
  if (shape.slices > slices) return false;
  for (const std::int64_t begin : shape.places) {
    const std::uint32_t mask = ((1u << shape.memory) - 1) << begin;
    if ((used & mask) == 0 && place(shapes, next + 1, used | mask, slices - shape.slices)) return true;
  }
  return false;
}

bool has_profiles(const MigProduct& product, const MigGeometry& geometry) {
  return std::ranges::all_of(geometry.parts,
                             [&](const MigGeometry::Part& part) { return product.max_of(part.profile).has_value(); });
}

/// Returns true if a device filter such as "0x233010DE" names the product. The first four digits are the device, the
/// last four the vendor.
bool matches_filter(const MigProduct& product, std::string_view filter) {
  if (filter.starts_with("0x") || filter.starts_with("0X")) filter.remove_prefix(2);
  std::string device(filter.substr(0, 4));
  std::ranges::transform(device, device.begin(),
                         [](char c) { return c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c; });
  return std::ranges::find(product.pci_devices, device) != product.pci_devices.end();
}

}  // namespace

bool fits(const MigProduct& product, const MigGeometry& geometry) {
  std::vector<PlacementShape> shapes;
  std::int64_t with_media = 0;
  for (const MigGeometry::Part& part : geometry.parts) {
    const std::optional<std::int64_t> max = product.max_of(part.profile);
    if (!max || part.count > *max) return false;
    if (part.profile.find("+me") != part.profile.npos) with_media += part.count;
    for (std::int64_t i = 0; i < part.count; ++i) shapes.push_back(shape_of(product, part.profile));
  }
  if (with_media > 1) return false;
  std::ranges::stable_sort(shapes, std::ranges::greater(), &PlacementShape::memory);
  return place(shapes, 0, 0, product.memory_slots == 4 ? 4 : 7);
}

std::string nearest_geometry(const MigProduct& product, const MigGeometry& geometry) {
  MigGeometry reduced = geometry;
  for (MigGeometry::Part& part : reduced.parts) part.count = std::min<std::int64_t>(part.count, 8);
  // The smallest profiles are removed first, because the user most likely wants the large ones.
  std::vector<std::size_t> order(reduced.parts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return shape_of(product, reduced.parts[i].profile).memory; });
  for (const std::size_t i : order) {
    while (reduced.parts[i].count > 0 && !fits(product, reduced)) --reduced.parts[i].count;
  }
  std::string text;
  for (const MigGeometry::Part& part : reduced.parts) {
    if (part.count > 0) text += fmt::format("{}{} of {}", text.empty() ? "" : " and ", part.count, part.profile);
  }
  return text;
}

std::string_view gpu_instance_of(std::string_view profile) {
  const bool computes = profile.size() > 3 && profile[0] >= '1' && profile[0] <= '9' && profile.substr(1, 2) == "c.";
  return computes ? profile.substr(3) : profile;
}

MigGeometry geometry_of(const manifest::Value& entry) {
  MigGeometry geometry;
  for (const manifest::Value& device : entry["mig-devices"].children()) {
    if (gpu_instance_of(device.key) != device.key) return {};
    geometry.parts.push_back({device.key, std::clamp<std::int64_t>(device.integer().value_or(0), 0, 100)});
  }
  return geometry;
}

std::vector<const MigProduct*> products_for(const manifest::Value& entry) {
  std::vector<const MigProduct*> out;
  const manifest::Value& filter = entry["device-filter"];
  const MigGeometry geometry = geometry_of(entry);
  for (const MigProduct& product : mig_products()) {
    bool is_match = !filter && has_profiles(product, geometry);
    if (filter.is_scalar()) is_match = matches_filter(product, filter.text);
    for (const manifest::Value& device :
         filter.is_sequence() ? filter.children() : std::span<const manifest::Value>()) {
      is_match = is_match || matches_filter(product, device.text);
    }
    if (is_match) out.push_back(&product);
  }
  return out;
}

}  // namespace capstan::lint
