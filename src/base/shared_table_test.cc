#include "base/shared_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <tuple>
#include <vector>

namespace capstan {
namespace {

using RowId = Id<struct RowTag>;
using Table = SharedTable<RowId, int>;
using Model = std::map<RowId, int>;

constexpr RowId row(std::uint32_t n) { return {n}; }

Model contents(const Table& table) {
  Model rows;
  std::vector<RowId> order;
  table.for_each([&](RowId id, int value) {
    rows[id] = value;
    order.push_back(id);
  });
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), rows.size());
  return rows;
}

TEST(SharedTable, AnAbsentRowIsNull) {
  Table table;
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.find(row(0)), nullptr);
  EXPECT_EQ(table.find(RowId{}), nullptr);
  table.set(row(5), 50);
  EXPECT_EQ(table.find(row(4)), nullptr);
  EXPECT_EQ(table.find(row(5000)), nullptr);
  EXPECT_EQ(table.at(row(5)), 50);
}

TEST(SharedTable, SettingARowTwiceKeepsOneRow) {
  Table table;
  table.set(row(1), 10);
  table.set(row(1), 11);
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.at(row(1)), 11);
  table.erase(row(1));
  table.erase(row(1));
  EXPECT_TRUE(table.empty());
}

TEST(SharedTable, ACopyDoesNotSeeLaterChanges) {
  Table before;
  for (std::uint32_t i = 0; i < 200; ++i) before.set(row(i), static_cast<int>(i));
  Table after = before;
  after.set(row(70), -1);
  after.erase(row(3));
  EXPECT_EQ(before.at(row(70)), 70);
  EXPECT_EQ(before.at(row(3)), 3);
  EXPECT_EQ(after.at(row(70)), -1);
  EXPECT_EQ(after.find(row(3)), nullptr);
}

TEST(SharedTable, ACopyOwnsOnlyTheBlocksItChanged) {
  Table before;
  for (std::uint32_t i = 0; i < 256; ++i) before.set(row(i), static_cast<int>(i));
  Table after = before;
  after.set(row(70), -1);
  int shared = 0;
  for (std::uint32_t i = 0; i < 256; ++i) shared += before.find(row(i)) == after.find(row(i));
  EXPECT_EQ(shared, 256 - 64);  // equal addresses: one block of 64 rows was copied, three blocks are shared
}

TEST(SharedTable, VisitsTheRowsThatDiffer) {
  using Change = std::tuple<std::uint32_t, int, int>;  // id, value before and after; 0: no such row
  const auto changes = [](const Table& before, const Table& after) {
    std::vector<Change> found;
    after.for_each_change(before, [&](RowId id, const int* old_row, const int* new_row) {
      found.emplace_back(id.value, old_row == nullptr ? 0 : *old_row, new_row == nullptr ? 0 : *new_row);
    });
    return found;
  };
  Table before;
  for (std::uint32_t i = 0; i < 200; ++i) before.set(row(i), static_cast<int>(i) + 1);
  Table after = before;
  EXPECT_TRUE(changes(before, after).empty());
  after.set(row(70), -1);
  after.set(row(71), 72);  // the same value
  after.erase(row(3));
  after.set(row(500), 9);
  EXPECT_EQ(changes(before, after), (std::vector<Change>{{3, 4, 0}, {70, 71, -1}, {500, 0, 9}}));
  EXPECT_EQ(changes(after, before), (std::vector<Change>{{3, 0, 4}, {70, -1, 71}, {500, 9, 0}}));
  EXPECT_EQ(changes(Table(), before).size(), 200u);
}

TEST(SharedTableDeathTest, ReadingAnAbsentRowIsABug) { EXPECT_DEATH(Table().at(row(1)), "broken invariant"); }

// Compares several copies with maps: a change of one copy must not be visible in another.
RC_GTEST_PROP(SharedTable, IsAMapWhoseCopiesAreIndependent, ()) {
  std::vector<Table> tables(1);
  std::vector<Model> models(1);
  const int steps = *rc::gen::inRange(1, 200);
  for (int step = 0; step < steps; ++step) {
    const std::size_t version = *rc::gen::inRange<std::size_t>(0, tables.size());
    const RowId id = row(*rc::gen::inRange<std::uint32_t>(0, 300));
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        tables[version].erase(id);
        models[version].erase(id);
        break;
      case 1:
        if (tables.size() < 8) {
          tables.push_back(tables[version]);
          models.push_back(models[version]);
        }
        break;
      default:
        tables[version].set(id, step);
        models[version][id] = step;
    }
  }
  for (std::size_t version = 0; version < tables.size(); ++version) {
    RC_ASSERT(contents(tables[version]) == models[version]);
    RC_ASSERT(tables[version].size() == models[version].size());
    for (std::uint32_t i = 0; i < 300; ++i) {
      const auto expected = models[version].find(row(i));
      const int* found = tables[version].find(row(i));
      RC_ASSERT((found != nullptr) == (expected != models[version].end()));
      if (found != nullptr) RC_ASSERT(*found == expected->second);
    }
  }
}

}  // namespace
}  // namespace capstan
