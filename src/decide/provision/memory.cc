#include "decide/provision/provision.h"
#include "decide/text.h"

namespace capstan::decide::provision {
namespace {

constexpr std::string_view kVersion = "provision-memory/2";

/// Visits the fields in the order of the text. Writing and reading use the same order.
template <typename MemoryType, typename Each, typename Rows>
void fields(MemoryType& m, Each&& each, Rows&& rows) {
  each(m.last_scan, m.last_consolidation, m.batch_first, m.batch_last, m.newest_pod, m.newest_claim);
  rows(m.failed, [&](auto& id) { each(id); });
  rows(m.pending_launches,
       [&](auto& a) { each(a.pool, a.offering, a.domain, a.gang, a.group, a.count, a.hold, a.at); });
  rows(m.groups, [&](auto& g) {
    each(g.id, g.offering, g.count, g.requested_at, g.until, g.released_at);
    rows(g.claims, [&](auto& id) { each(id); });
  });
  rows(m.backoffs, [&](auto& b) { each(b.offering, b.failures, b.failed_at, b.until); });
  rows(m.stable_pods, [&](auto& q) { each(q.node, q.pods_hash, q.since); });
  rows(m.replacements, [&](auto& r) { each(r.node, r.pool, r.offering, r.newest_node, r.at); });
  rows(m.terminating, [&](auto& t) { each(t.node, t.at); });
}

}  // namespace

std::string to_text(const Memory& memory) {
  TextWriter text(kVersion);
  fields(
      memory, [&](const auto&... field) { (text.add(field), ...); },
      [&](const auto& rows, auto&& each) { text.rows(rows, each); });
  return text.take();
}

Result<Memory> parse_memory(std::string_view saved) {
  TextReader text(saved, kVersion);
  Memory memory;
  fields(
      memory, [&](auto&... field) { (text.read(field), ...); },
      [&](auto& rows, auto&& each) { text.rows(rows, each); });
  return text.finish(std::move(memory));
}

}  // namespace capstan::decide::provision
