#include "actuate/bind_intent.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kube/json.h"

namespace capstan::actuate {

using kube::json_quote;

std::string write_bind_intent(const BindIntent& intent) {
  return R"({"transaction":)" + json_quote(intent.transaction) + R"(,"pods":)" + std::to_string(intent.pods) +
         R"(,"node":)" + json_quote(intent.node) + "}";
}

std::optional<BindIntent> read_bind_intent(std::string_view text) {
  kube::JsonDocument document;
  const Result<kube::Json> object = document.parse(text);
  if (!object) return std::nullopt;
  BindIntent intent{.transaction = std::string((*object)["transaction"].text()),
                    .node = std::string((*object)["node"].text()),
                    .pods = (*object)["pods"].integer()};
  if (intent.transaction.empty() || intent.node.empty() || intent.pods < 1) return std::nullopt;
  return intent;
}

std::vector<UnfinishedBind> unfinished_binds(std::span<const kube::Pod* const> pods) {
  struct Transaction {
    UnfinishedBind bind;
    std::int64_t pods = 0;  // number of pods that the transaction should have
    bool has_unbound_pod = false;
    bool has_terminating_pod = false;
  };
  std::map<std::string, Transaction> by_transaction;
  for (const kube::Pod* pod : pods) {
    const std::string* text = pod->meta.annotations.find(kBindIntent);
    const std::optional<BindIntent> intent = text != nullptr ? read_bind_intent(*text) : std::nullopt;
    if (!intent || pod->over()) continue;
    Transaction& found = by_transaction[intent->transaction];
    found.bind.transaction = intent->transaction;
    found.pods = std::max(found.pods, intent->pods);
    found.has_unbound_pod = found.has_unbound_pod || (!pod->bound() && !pod->meta.terminating());
    found.has_terminating_pod = found.has_terminating_pod || pod->meta.terminating();
    const Ref ref{{kube::resources::kPods, pod->meta.ns, pod->meta.name}, pod->meta.uid};
    found.bind.bindings.push_back({ref, pod->meta.resource_version, intent->node});
  }
  std::vector<UnfinishedBind> unfinished;
  for (auto& [name, found] : by_transaction) {
    if (!found.has_unbound_pod) continue;
    found.bind.complete = !found.has_terminating_pod && std::ssize(found.bind.bindings) == found.pods;
    unfinished.push_back(std::move(found.bind));
  }
  return unfinished;
}

}  // namespace capstan::actuate
