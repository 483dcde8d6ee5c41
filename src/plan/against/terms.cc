#include "plan/against/terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "manifest/scalars.h"
#include "plan/against/engine_arguments.h"
#include "plan/against/pod_parts.h"
#include "plan/objects/names.h"

namespace capstan::plan {

namespace {

using manifest::Node;

bool is_workload(const Manifest& planned) {
  const std::string kind = text_at(planned.body, "kind");
  return kind == "Deployment" || kind == "LeaderWorkerSet";
}

/// Returns the name of a label as Prometheus writes it: "app_kubernetes_io_name".
std::string metric_label(std::string key) {
  std::ranges::replace_if(key, [](char c) { return c == '.' || c == '/' || c == '-'; }, '_');
  return key;
}

const Node* containers_of(const Node& body) {
  const Node* pod = pod_template(body);
  const Node* spec = pod == nullptr ? nullptr : pod->find("spec");
  return spec == nullptr ? nullptr : spec->find("containers");
}

/// Returns true if the selector of a workload uses a label of its pods. Such a label cannot change.
bool is_selected(const Node& body, const std::string& key) {
  const Node* labels = selected_labels(body);
  return labels != nullptr && labels->find(key) != nullptr;
}

void add_labels(const ObjectMatch& match, Terms& out) {
  const Yaml* planned = pod_labels_of(match.planned->body);
  const Node* existing = pod_labels_of(match.existing->body);
  if (planned == nullptr || existing == nullptr) return;
  for (const auto& [key, value] : planned->entries()) {
    const std::string found = text_at(*existing, key);
    if (found.empty() || found == value.text() || !is_selected(match.existing->body, key)) continue;
    const auto is_known = [&](const LabelTerm& term) { return term.key == key && term.planned == value.text(); };
    if (std::ranges::none_of(out.labels, is_known)) out.labels.push_back({key, value.text(), found});
  }
}

void add_port(const ObjectMatch& match, Terms& out) {
  const Yaml* engine = planned_engine(match.planned->body);
  const Node* containers = containers_of(match.existing->body);
  const Yaml* ports = engine == nullptr ? nullptr : engine->find("ports");
  if (ports == nullptr || ports->elements().empty() || containers == nullptr) return;
  const Node* existing = find_container(*engine, *containers, {});
  if (existing == nullptr) return;
  const Yaml& planned = ports->elements().front();
  PortTerm term{.workload = text_at(match.planned->body, "metadata", "name"),
                .planned_name = text_at(planned, "name"),
                .existing_name = "",
                .planned_number = text_at(planned, "containerPort"),
                .existing_number = engine_port(*existing)};
  if (!manifest::read_integer(term.existing_number)) return;
  if (const Node* list = existing->find("ports")) {
    for (const Node& port : list->items) {
      if (text_at(port, "containerPort") == term.existing_number) term.existing_name = text_at(port, "name");
    }
  }
  if (term.existing_name.empty()) term.existing_name = term.planned_name;
  out.ports.push_back(std::move(term));
}

bool is_token_variable(const std::string& name) { return name == "HF_TOKEN" || name == "HUGGING_FACE_HUB_TOKEN"; }

/// Finds the Secret from which an existing container takes its token.
void add_token(const ObjectMatch& match, Terms& out) {
  const Node* containers = containers_of(match.existing->body);
  if (containers == nullptr || !out.token.secret.empty()) return;
  for (const Node& container : containers->items) {
    const Node* variables = container.find("env");
    if (variables == nullptr) continue;
    for (const Node& variable : variables->items) {
      const Node* source = variable.find("valueFrom");
      if (source == nullptr || !is_token_variable(text_at(variable, "name"))) continue;
      out.token = {.secret = text_at(*source, "secretKeyRef", "name"), .key = text_at(*source, "secretKeyRef", "key")};
    }
  }
}

/// Rewrites the values of one planned object.
class Rewriting {
 public:
  Rewriting(const Terms& terms, const Yaml& object) : terms_(terms) {
    const std::string name = text_at(object, "metadata", "name");
    for (const PortTerm& term : terms.ports) {
      if (term.workload == name) port_ = &term;
    }
  }

  Yaml run(const Yaml& value, const std::string& key) const {
    Yaml out = value;
    if (value.is_list()) {
      out = Yaml::list();
      for (const Yaml& element : value.elements()) out.add(run(element, key));
    } else if (value.is_map() && key == "env" && is_token_variable(text_at(value, "name")) &&
               !terms_.token.secret.empty()) {
      out["valueFrom"]["secretKeyRef"].set("name", terms_.token.secret);
      out["valueFrom"]["secretKeyRef"].set("key", terms_.token.key);
    } else if (value.is_map()) {
      out = Yaml();
      for (const auto& [name, below] : value.entries()) {
        Yaml written = run(below, name);
        const std::string comment = written.comment();
        out.set(name, std::move(written), comment);
      }
    } else {
      out = scalar(value, key);
    }
    return std::move(out).with_comment(value.comment());
  }

 private:
  Yaml scalar(const Yaml& value, const std::string& key) const {
    const std::string& text = value.text();
    if (port_ != nullptr) {
      if ((key == "port" || key == "targetPort") && text == port_->planned_name) return Yaml(port_->existing_name);
      if (key == "containerPort" && text == port_->planned_number) return Yaml::plain(port_->existing_number);
    }
    if (!terms_.existing_namespace.empty() && (key == "namespace" || key == "matchNames") &&
        text == terms_.planned_namespace) {
      return Yaml(terms_.existing_namespace);
    }
    for (const LabelTerm& term : terms_.labels) {
      if ((key == term.key || key == metric_label(term.key)) && text == term.planned) return Yaml(term.existing);
    }
    const std::string changed = in_query(text);
    return changed == text ? value : Yaml(changed);
  }

  /// Rewrites the matchers of a query: `namespace="inference"`.
  std::string in_query(std::string text) const {
    const auto replace = [&](const std::string& label, const std::string& planned, const std::string& existing) {
      for (const std::string_view sign : {"=", "=~"}) {
        const std::string old = fmt::format("{}{}\"{}\"", label, sign, planned);
        const std::string written = fmt::format("{}{}\"{}\"", label, sign, existing);
        for (std::size_t at = text.find(old); at != text.npos; at = text.find(old, at + written.size())) {
          text.replace(at, old.size(), written);
        }
      }
    };
    if (!terms_.existing_namespace.empty()) replace("namespace", terms_.planned_namespace, terms_.existing_namespace);
    for (const LabelTerm& term : terms_.labels) replace(metric_label(term.key), term.planned, term.existing);
    return text;
  }

  const Terms& terms_;
  const PortTerm* port_ = nullptr;
};

}  // namespace

Terms terms_of(const std::vector<ObjectMatch>& matches) {
  Terms out;
  for (const ObjectMatch& match : matches) {
    if (match.existing == nullptr || !is_workload(*match.planned)) continue;
    const std::string planned = text_at(match.planned->body, "metadata", "namespace");
    const std::string existing = match.existing->namespace_name();
    if (out.namespace_source.empty() && !existing.empty() && existing != planned) {
      out.planned_namespace = planned;
      out.existing_namespace = existing;
      out.namespace_source = match.existing->kind() + " " + match.existing->name();
    }
    add_labels(match, out);
    add_port(match, out);
    add_token(match, out);
  }
  return out;
}

Yaml in_terms(const Yaml& planned, const Terms& terms) { return Rewriting(terms, planned).run(planned, ""); }

std::string how_to_adapt(const Yaml& planned, const Terms& terms) {
  const Yaml adapted = in_terms(planned, terms);
  if (adapted.flow() == planned.flow()) return "";
  std::vector<std::string> words;
  const auto is_needed = [&](const Terms& part) { return in_terms(planned, part).flow() != planned.flow(); };
  const Terms only_namespace{.planned_namespace = terms.planned_namespace,
                             .existing_namespace = terms.existing_namespace};
  if (is_needed(only_namespace)) {
    words.push_back(fmt::format("the namespace {} in place of {}", terms.existing_namespace, terms.planned_namespace));
  }
  for (const LabelTerm& term : terms.labels) {
    if (!is_needed({.labels = {term}})) continue;
    words.push_back(fmt::format("{}: {} in place of {}", term.key, term.existing, term.planned));
  }
  for (const PortTerm& term : terms.ports) {
    if (!is_needed({.ports = {term}})) continue;
    words.push_back(fmt::format("the port {} in place of {}", term.existing_name, term.planned_name));
  }
  if (is_needed({.token = terms.token})) {
    words.push_back(fmt::format("the key {} of the Secret {} for the token", terms.token.key, terms.token.secret));
  }
  return fmt::format("before you apply it, write {}", fmt::join(words, ", "));
}

std::vector<std::string> comparison_notes(const Plan& plan, const std::vector<ExistingObject>& existing) {
  const Terms terms = terms_of(match_objects(plan, existing));
  if (terms.existing_namespace.empty()) return {};
  return {
      fmt::format("{} is in the namespace {}, the plan's objects are in {}; write `namespace: {}` in {}, so that "
                  "the plan's files fit",
                  terms.namespace_source, terms.existing_namespace, terms.planned_namespace, terms.existing_namespace,
                  plan.spec.file)};
}

}  // namespace capstan::plan
