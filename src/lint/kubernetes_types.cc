#include "lint/kubernetes_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/similar_names.h"
#include "lint/bundled_facts.h"
#include "lint/fact_rows.h"
#include "lint/pod_shapes.h"
#include "lint/rule.h"
#include "lint/value_path.h"

namespace capstan::lint {
namespace {

using manifest::Form;
using manifest::Style;
using Kind = TypeFault::Kind;

struct Field {
  enum class Shape : std::uint8_t { single, list, map };
  enum class Base : std::uint8_t { any, text, integer, boolean, structure };
  std::string_view name;
  Shape shape = Shape::single;
  Base base = Base::any;
  std::string_view type{};  ///< name of a structure
};
/// The fields of one structure, sorted by name.
using Type = std::vector<Field>;

Field field_of(std::string_view name, std::string_view value) {
  Field field{.name = name};
  const auto take_prefix = [&](std::string_view prefix, Field::Shape shape) {
    if (!value.starts_with(prefix)) return;
    value.remove_prefix(prefix.size());
    field.shape = shape;
  };
  take_prefix("list:", Field::Shape::list);
  take_prefix("map:", Field::Shape::map);
  constexpr std::pair<std::string_view, Field::Base> kBases[] = {{"any", Field::Base::any},
                                                                 {"text", Field::Base::text},
                                                                 {"integer", Field::Base::integer},
                                                                 {"boolean", Field::Base::boolean}};
  const auto base = std::ranges::find(kBases, value, &std::pair<std::string_view, Field::Base>::first);
  field.base = base == std::end(kBases) ? Field::Base::structure : base->second;
  if (field.base == Field::Base::structure) field.type = value;
  return field;
}

const Type* find_type(std::string_view name) {
  static const std::map<std::string_view, Type, std::less<>> types = [] {
    std::map<std::string_view, Type, std::less<>> all;
    for (const auto& row : fact_rows(kKubernetesFieldsCsv)) all[row[0]].push_back(field_of(row[1], row[2]));
    for (auto& [type, fields] : all) std::ranges::sort(fields, {}, &Field::name);
    return all;
  }();
  const auto found = types.find(name);
  return found == types.end() ? nullptr : &found->second;
}

const Field* find_field(const Type& type, std::string_view name) {
  const auto found = std::ranges::lower_bound(type, name, {}, &Field::name);
  return found != type.end() && found->name == name ? &*found : nullptr;
}

/// Custom resources whose pods are written as a PodTemplateSpec of Kubernetes, without fields of their own.
constexpr std::string_view kKindsWithTemplates[] = {"ClusterTrainingRuntime",
                                                    "CloneSet",
                                                    "DisaggregatedSet",
                                                    "DynamoGraphDeployment",
                                                    "JAXJob",
                                                    "JobSet",
                                                    "LeaderWorkerSet",
                                                    "MPIJob",
                                                    "PaddleJob",
                                                    "PyTorchJob",
                                                    "RayCluster",
                                                    "RayJob",
                                                    "RayService",
                                                    "Rollout",
                                                    "ScaledJob",
                                                    "TFJob",
                                                    "TrainingRuntime",
                                                    "XGBoostJob"};

/// Returns the name of the type of an object; empty if the table lacks it.
std::string_view type_of(const Object& object) {
  struct Row {
    std::string_view api_version, kind;
  };
  constexpr Row kRows[] = {{"apps/v1", "Deployment"},
                           {"apps/v1", "StatefulSet"},
                           {"apps/v1", "DaemonSet"},
                           {"apps/v1", "ReplicaSet"},
                           {"batch/v1", "Job"},
                           {"batch/v1", "CronJob"},
                           {"v1", "Pod"},
                           {"v1", "ConfigMap"},
                           {"v1", "Service"},
                           {"autoscaling/v2", "HorizontalPodAutoscaler"},
                           {"policy/v1", "PodDisruptionBudget"}};
  const std::string_view version =
      object.intended_api.api_version.empty() ? object.api_version : object.intended_api.api_version;
  const bool is_known =
      std::ranges::any_of(kRows, [&](const Row& row) { return row.api_version == version && row.kind == object.kind; });
  return is_known ? object.kind : std::string_view();
}

/// Returns the place in which a field of this name belongs, for a field that is one level too high or too low.
std::string_view place_of(std::string_view field, std::string_view root) {
  const std::pair<std::string, std::string_view> kPlaces[] = {{"PodSpec", "the spec of the pod"},
                                                              {"Container", "each container"},
                                                              {std::string(root) + "Spec", "the spec of the object"},
                                                              {"ObjectMeta", "metadata"},
                                                              {"SecurityContext", "securityContext"}};
  for (const auto& [name, place] : kPlaces) {
    const Type* type = find_type(name);
    if (type != nullptr && find_field(*type, field) != nullptr) return place;
  }
  return {};
}

/// One step of the path from the object to a value. The text of a path is built only for a fault.
struct Step {
  const Step* above = nullptr;
  std::string_view key{};
  std::optional<std::size_t> index{};

  std::string text() const {
    if (index) return fmt::format("{}[{}]", above->text(), *index);
    const std::string before = above == nullptr ? "" : above->text();
    return before.empty() ? std::string(key) : fmt::format("{}.{}", before, key);
  }
};

class Comparison {
 public:
  explicit Comparison(std::string_view root) : root_(root) {}

  void compare(const Value& mapping, std::string_view type_name, const Step& place) {
    const Type* type = find_type(type_name);
    if (type == nullptr || !mapping) return;
    if (!mapping.is_mapping()) return add(Kind::not_mapping, mapping, place);
    for (const Value& value : mapping.children()) {
      const Step below{.above = &place, .key = value.key};
      if (const Field* field = find_field(*type, value.key)) {
        compare_field(value, *field, below);
      } else if (value.key.find_first_of("$<{%") == std::string_view::npos) {
        add_unknown(mapping, value, *type, below);
      }
    }
  }

  std::vector<TypeFault> take() { return std::move(faults_); }

 private:
  void add(Kind kind, const Value& value, const Step& place) {
    if (kind != Kind::not_text && value.form == Form::scalar && is_variable(value.text)) return;
    faults_.push_back({.kind = kind, .value = &value, .path = place.text()});
  }

  void add_unknown(const Value& parent, const Value& value, const Type& type, const Step& place) {
    std::vector<std::string_view> names;
    for (const Field& field : type) names.push_back(field.name);
    TypeFault fault{.kind = Kind::unknown_field, .value = &value, .parent = &parent, .path = place.text()};
    fault.other_place = place_of(value.key, root_);
    // Short words resemble each other within two edits, so they count as similar only within one.
    constexpr std::size_t kShort = 6;
    fault.similar = similar_names(value.key, names);
    std::erase_if(fault.similar, [&](std::string_view name) {
      return value.key.size() < kShort && edit_distance(value.key, name) > 1;
    });
    faults_.push_back(std::move(fault));
  }

  void compare_field(const Value& value, const Field& field, const Step& place) {
    if (!value) return;
    if (field.shape == Field::Shape::single) return compare_item(value, field, place);
    const bool is_list = field.shape == Field::Shape::list;
    if (is_list ? !value.is_sequence() : !value.is_mapping()) {
      return add(is_list ? Kind::not_list : Kind::not_mapping, value, place);
    }
    for (std::size_t i = 0; i < value.count; ++i) {
      const Value& item = value.children()[i];
      compare_item(item, field, is_list ? Step{.above = &place, .index = i} : Step{.above = &place, .key = item.key});
    }
  }

  void compare_item(const Value& value, const Field& field, const Step& place) {
    if (!value || field.base == Field::Base::any) return;
    if (field.base == Field::Base::structure) return compare(value, field.type, place);
    if (field.base == Field::Base::text) {
      if (value.form != Form::scalar || is_number_or_boolean(value)) add(Kind::not_text, value, place);
    } else if (field.base == Field::Base::integer) {
      if (!is_whole_number(value)) add(Kind::not_integer, value, place);
    } else if (value.form != Form::scalar || value.style != Style::plain || !is_number_or_boolean(value)) {
      add(Kind::not_boolean, value, place);
    }
  }

  static bool is_whole_number(const Value& value) {
    if (value.form != Form::scalar || value.style != Style::plain) return false;
    const std::optional<double> number = value.number();
    return number ? *number == std::trunc(*number) : is_number_or_boolean(value);
  }

  std::string_view root_;
  std::vector<TypeFault> faults_;
};

/// Returns true for a whole number in one of Go's notations: 8, 010, 0o10, 0x8, 0b1000, 1_000.
bool is_go_integer(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  std::string digits(text);
  std::erase(digits, '_');
  int base = 10;
  std::size_t begin = 0;
  if (digits.size() > 1 && digits[0] == '0') {
    const char letter = static_cast<char>(digits[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    begin = letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1;
  }
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data() + begin, end, value, base);
  return error == std::errc() && stop == end;
}

/// Returns true for a decimal number with or without a fraction and an exponent: 0.5, .5, 5., 1e3.
bool is_decimal(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  const bool begins_as_number = digits != 0 || (text.size() > 1 && text[0] == '.' && text[1] >= '0' && text[1] <= '9');
  if (!begins_as_number) return false;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return stop == end && error == std::errc();  // Go reads a number that is too large as a text
}

}  // namespace

bool is_number_or_boolean(const Value& value) {
  if (value.form != Form::scalar || value.style != Style::plain) return false;
  constexpr std::string_view kBooleans[] = {"true",  "True",  "TRUE",  "yes", "Yes", "YES", "on",  "On",  "ON",
                                            "false", "False", "FALSE", "no",  "No",  "NO",  "off", "Off", "OFF"};
  if (std::ranges::find(kBooleans, value.text) != std::end(kBooleans)) return true;
  std::string_view text = value.text;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return is_go_integer(text) || is_decimal(text);
}

bool is_variable(std::string_view text) {
  return text.find_first_of("$<{%") != text.npos ||
         std::ranges::none_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

namespace {

/// Returns the unknown fields of the pod templates in an object of a custom resource. Other faults of such a template
/// are found by the rule wrong-type, which compares texts in all kinds.
std::vector<TypeFault> unknown_fields_of_templates(const Object& object) {
  std::vector<TypeFault> unknown;
  if (std::ranges::find(kKindsWithTemplates, object.kind) == std::end(kKindsWithTemplates)) return unknown;
  for (const PodShape& shape : pod_shapes(object.kind, object.group)) {
    if (shape.metadata != "metadata" || shape.spec != "spec" || !shape.container.empty()) continue;
    for_each_at(*object.root, shape.unit, [&](const Value& pod_template) {
      Comparison comparison("PodTemplateSpec");
      comparison.compare(pod_template, "PodTemplateSpec", Step{.key = shape.unit});
      for (TypeFault& fault : comparison.take()) {
        if (fault.kind == Kind::unknown_field) unknown.push_back(std::move(fault));
      }
    });
  }
  return unknown;
}

}  // namespace

std::vector<TypeFault> type_faults(const Object& object) {
  const std::string_view type = type_of(object);
  if (type.empty()) return unknown_fields_of_templates(object);
  Comparison comparison(type);
  comparison.compare(*object.root, type, Step{});
  return comparison.take();
}

const std::vector<TypeFault>& Subject::type_faults() const {
  if (!views_.type_faults)
    views_.type_faults = std::make_shared<const std::vector<TypeFault>>(lint::type_faults(object));
  return *views_.type_faults;
}

}  // namespace capstan::lint
