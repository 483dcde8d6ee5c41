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
  struct Seen {
    UnfinishedBind bind;
    std::int64_t pods = 0;
    bool waits = false;
    bool leaves = false;
  };
  std::map<std::string, Seen> by_transaction;
  for (const kube::Pod* pod : pods) {
    const std::string* text = pod->meta.annotations.find(kBindIntent);
    const std::optional<BindIntent> intent = text != nullptr ? read_bind_intent(*text) : std::nullopt;
    if (!intent || pod->over()) continue;
    Seen& seen = by_transaction[intent->transaction];
    seen.bind.transaction = intent->transaction;
    seen.pods = std::max(seen.pods, intent->pods);
    seen.waits = seen.waits || (!pod->bound() && !pod->meta.terminating());
    seen.leaves = seen.leaves || pod->meta.terminating();
    const Ref ref{{kube::resources::kPods, pod->meta.ns, pod->meta.name}, pod->meta.uid};
    seen.bind.bindings.push_back({ref, pod->meta.resource_version, intent->node});
  }
  std::vector<UnfinishedBind> unfinished;
  for (auto& [transaction, seen] : by_transaction) {
    if (!seen.waits) continue;
    seen.bind.whole = !seen.leaves && std::ssize(seen.bind.bindings) == seen.pods;
    unfinished.push_back(std::move(seen.bind));
  }
  return unfinished;
}

}  // namespace capstan::actuate
