#include "plan/against/pod_parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/against/existing_object.h"

namespace capstan::plan {

namespace {

using manifest::Node;

template <typename Body>
const Body* find_template(const Body& body) {
  const Body* spec = body.find("spec");
  if (spec == nullptr) return nullptr;
  if (const Body* group = spec->find("leaderWorkerTemplate")) {
    const Body* leader = group->find("leaderTemplate");
    return leader != nullptr ? leader : group->find("workerTemplate");
  }
  return spec->find("template");
}

template <typename Body>
const Body* find_labels(const Body& body) {
  const Body* pod = find_template(body);
  const Body* metadata = pod == nullptr ? nullptr : pod->find("metadata");
  return metadata == nullptr ? nullptr : metadata->find("labels");
}

template <typename Body>
const Body* find_selected_labels(const Body& body) {
  const Body* spec = body.find("spec");
  const Body* selector = spec == nullptr ? nullptr : spec->find("selector");
  return selector == nullptr ? nullptr : selector->find("matchLabels");
}

bool has_word(const Yaml& value, std::string_view word) {
  if (value.is_map()) return false;
  if (!value.is_list()) return value.text().find(word) != std::string::npos;
  return std::ranges::any_of(value.elements(), [&](const Yaml& element) { return has_word(element, word); });
}

}  // namespace

const Node* pod_template(const Node& body) { return find_template(body); }
const Yaml* pod_template(const Yaml& body) { return find_template(body); }
const Node* pod_labels_of(const Node& body) { return find_labels(body); }
const Yaml* pod_labels_of(const Yaml& body) { return find_labels(body); }
const Node* selected_labels(const Node& body) { return find_selected_labels(body); }
const Yaml* selected_labels(const Yaml& body) { return find_selected_labels(body); }

bool asks_for_gpu(const Yaml& container) {
  const Yaml* resources = container.find("resources");
  if (resources == nullptr) return false;
  return std::ranges::any_of(resources->entries(), [](const Yaml::Entry& amounts) {
    return std::ranges::any_of(amounts.second.entries(), [](const Yaml::Entry& amount) {
      return amount.first.find("gpu") != std::string::npos || amount.first.starts_with("nvidia.com/");
    });
  });
}

std::string_view engine_word(const Yaml& container) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords = {
      {{"sglang", "sglang"}, {"trtllm", "tensorrt"}, {"tensorrt", "tensorrt"}, {"triton", "triton"}, {"vllm", "vllm"}}};
  for (const std::string_view key : {"command", "args", "image"}) {
    const Yaml* value = container.find(key);
    if (value == nullptr) continue;
    for (const auto& [word, engine] : kWords) {
      if (has_word(*value, word)) return engine;
    }
  }
  return {};
}

const Node* find_container(const Yaml& planned, const Node& list, const std::set<const Node*>& used) {
  for (const Node& item : list.items) {
    if (!used.contains(&item) && text_at(item, "name") == text_at(planned, "name")) return &item;
  }
  if (!asks_for_gpu(planned)) return nullptr;
  const Node* best = nullptr;
  int most = 0;
  for (const Node& item : list.items) {
    if (used.contains(&item)) continue;
    const Yaml container = yaml_of(item);
    const int like = (asks_for_gpu(container) ? 4 : 0) + (engine_word(container) == engine_word(planned) ? 2 : 0) +
                     (image_name(text_at(item, "image")) == image_name(text_at(planned, "image")) ? 1 : 0);
    if (like <= most) continue;
    most = like;
    best = &item;
  }
  return best == nullptr && list.items.size() == 1 && used.empty() ? &list.items.front() : best;
}

const Yaml* planned_engine(const Yaml& body) {
  const Yaml* pod = pod_template(body);
  const Yaml* spec = pod == nullptr ? nullptr : pod->find("spec");
  const Yaml* containers = spec == nullptr ? nullptr : spec->find("containers");
  if (containers == nullptr) return nullptr;
  const auto found = std::ranges::find_if(containers->elements(), asks_for_gpu);
  return found == containers->elements().end() ? nullptr : &*found;
}

std::string image_name(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t slash = image.rfind('/');
  if (slash != image.npos) image.remove_prefix(slash + 1);
  return std::string(image.substr(0, image.find(':')));
}

}  // namespace capstan::plan
