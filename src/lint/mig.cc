#include "lint/mig.h"

#include <fmt/format.h>

#include <algorithm>

namespace capstan::lint {
namespace {

/// A profile's compute slices, and the places on the memory axis where it may begin.
struct Shape {
  std::int64_t slices = 0;
  std::int64_t memory = 0;
  std::vector<std::int64_t> places;
};

bool is_double_memory(const MigProduct& product, std::string_view profile) {
  // Of the profiles with one compute slice, the one with fewer instances has two slots of memory.
  return product.memory_slots == 8 && profile.starts_with("1g.") && product.most_of(profile) == 4;
}

Shape shape_of(const MigProduct& product, std::string_view profile) {
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

/// Places what is left, largest first, on slots that are free: eight at most, so that the search ends at once.
bool place(const std::vector<Shape>& shapes, std::size_t next, std::uint32_t used, std::int64_t slices) {
  if (next == shapes.size()) return true;
  const Shape& shape = shapes[next];
  if (shape.slices > slices) return false;
  for (const std::int64_t begin : shape.places) {
    const std::uint32_t mask = ((1u << shape.memory) - 1) << begin;
    if ((used & mask) == 0 && place(shapes, next + 1, used | mask, slices - shape.slices)) return true;
  }
  return false;
}

bool known(const MigProduct& product, const MigGeometry& geometry) {
  return std::ranges::all_of(geometry.parts,
                             [&](const MigGeometry::Part& part) { return product.most_of(part.profile).has_value(); });
}

/// "0x233010DE": the device, then the vendor.
bool is_meant(const MigProduct& product, std::string_view filter) {
  if (filter.starts_with("0x") || filter.starts_with("0X")) filter.remove_prefix(2);
  std::string device(filter.substr(0, 4));
  std::ranges::transform(device, device.begin(),
                         [](char c) { return c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c; });
  return std::ranges::find(product.pci_devices, device) != product.pci_devices.end();
}

}  // namespace

bool fits(const MigProduct& product, const MigGeometry& geometry) {
  std::vector<Shape> shapes;
  std::int64_t with_media = 0;
  for (const MigGeometry::Part& part : geometry.parts) {
    const std::optional<std::int64_t> most = product.most_of(part.profile);
    if (!most || part.count > *most) return false;
    if (part.profile.find("+me") != part.profile.npos) with_media += part.count;
    for (std::int64_t i = 0; i < part.count; ++i) shapes.push_back(shape_of(product, part.profile));
  }
  if (with_media > 1) return false;
  std::ranges::stable_sort(shapes, std::ranges::greater(), &Shape::memory);
  return place(shapes, 0, 0, product.memory_slots == 4 ? 4 : 7);
}

std::string nearest_geometry(const MigProduct& product, const MigGeometry& geometry) {
  MigGeometry less = geometry;
  for (MigGeometry::Part& part : less.parts) part.count = std::min<std::int64_t>(part.count, 8);
  // Takes from the smallest profile first: what is large is most likely what was wanted.
  std::vector<std::size_t> order(less.parts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return shape_of(product, less.parts[i].profile).memory; });
  for (const std::size_t i : order) {
    while (less.parts[i].count > 0 && !fits(product, less)) --less.parts[i].count;
  }
  std::string words;
  for (const MigGeometry::Part& part : less.parts) {
    if (part.count > 0) words += fmt::format("{}{} of {}", words.empty() ? "" : " and ", part.count, part.profile);
  }
  return words;
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
    bool meant = !filter && known(product, geometry);
    if (filter.is_scalar()) meant = is_meant(product, filter.text);
    for (const manifest::Value& one : filter.is_sequence() ? filter.children() : std::span<const manifest::Value>()) {
      meant = meant || is_meant(product, one.text);
    }
    if (meant) out.push_back(&product);
  }
  return out;
}

}  // namespace capstan::lint
