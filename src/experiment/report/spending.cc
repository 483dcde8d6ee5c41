#include "experiment/report/spending.h"

#include <map>
#include <utility>

#include "model/capacity_names.h"

namespace capstan::experiment {

const char* spending_label(SpendingKey key) {
  switch (key) {
    case SpendingKey::capacity_type:
      return "by capacity";
    case SpendingKey::zone:
      return "by zone";
    case SpendingKey::pool:
      return "by pool";
  }
  return "";
}

std::vector<SpendingSum> spending_by(const RunResult& result, SpendingKey key) {
  std::map<std::pair<int, std::string>, std::int64_t> sums;  // key: position in the order, name
  for (const Spending& part : result.spending) {
    std::pair<int, std::string> row;
    switch (key) {
      case SpendingKey::capacity_type:
        row = {static_cast<int>(part.capacity), std::string(model::name(part.capacity).label)};
        break;
      case SpendingKey::zone:
        row = {0, part.zone};
        break;
      case SpendingKey::pool:
        row = part.pool.empty() ? std::pair(1, std::string("no pool")) : std::pair(0, part.pool);
        break;
    }
    sums[row] += part.micro_usd;
  }
  std::vector<SpendingSum> rows;
  for (auto& [row, micro_usd] : sums) rows.push_back({row.second, micro_usd});
  return rows;
}

}  // namespace capstan::experiment
