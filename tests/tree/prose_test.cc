#include "tree/prose.h"

#include <gtest/gtest.h>

#include <string>

namespace capstan::tree {
namespace {

struct ProseRow {
  const char* path;
  const char* line;
};

constexpr ProseRow kMustCatch[] = {
    {"src/a/b.cc", "// Whoever asks first gets the node."},
    {"src/a/b.cc", "// The node is free, as nobody uses it."},
    {"src/a/b.cc", "return fail(\"Nobody answers\");"},
    {"src/a/b.cc", "// Set by somebody else."},
    {"src/a/b.cc", "// A name that anybody can read."},
    {"src/a/b.h", "/// Returns those that fit."},
    {"docs/guides/a.md", "Only those who pay more get less."},
    {"src/a/b.cc", "// The action by whom it was decided."},
    {"src/a/b.cc", "// He waits for the lock."},
    {"src/a/b.cc", "// so that the standby can take over from him"},
    {"src/a/b.cc", "int a = 0;  ///< his free GPUs"},
    {"src/a/b.cc", "// The write may have happened all the same."},
    {"src/model/reasons.inc", "CAPSTAN_REASON(a, \"it is kept for ever\")"},
    {"src/a/b.cc", "// Two spreads are kept in hand."},
    {"docs/a.md", "The dearest node goes first."},
    {"src/a/b.cc", "// Both are told apart by their labels."},
    {"src/a/b.cc", "// The label tells apart what the names do not."},
    {"src/a/b.cc", "// None is not nothing."},
    {"src/a/b.cc", "// What is not nothing counts."},
    {"src/a/b.cc", "// A full queue speaks for more replicas."},
    {"src/a/b.cc", "return \"3421 thousandths of a replica\";"},
    {"src/a/b.cc", "text += \" thousandths of a GPU\";"},
    {"src/a/b.cc", "text += \" a ratio of 1200 per mille\";"},
    {"src/a/b.cc", "return fmt::format(\"{} micro-USD an hour\", price);"},
    {"tests/e2e/a_test.py", "# Micro-USD, as the page has it."},
    {"src/a/b.h", "/// What fits."},
    {"src/a/b.h", "/// Who holds the lease."},
    {"src/a/b.h", "/// That many pods are free."},
    {"src/a/b.h", "int free = 0;  ///< Of the open nodes"},
    {"src/a/b.h", "/// Whose pods these are."},
    {"src/a/b.cc", "  // Whom the plan drains."},
    {"src/a/b.h", "/// Whether the node is empty."},
    {"src/a/b.cc", "const char* url = \"https://a.b\";  // What it reads."},
    {"CHANGELOG.md", "- whoever deletes a pool gets a warning"},
    {"web/src/view/a.tsx", "// What the page says while it sleeps."},
    {"web/src/a.ts", "const a = 0;  // whoever asks"},
};

constexpr ProseRow kMustPass[] = {
    {"src/a/b.cc", "// The first caller gets the node."},
    {"src/a/b.cc", "// No pod uses the node, so it is free."},
    {"src/a/b.cc", "const bool nobody_waits = queue.empty();"},
    {"src/a/b.cc", "const int somebody2 = 0;"},
    {"src/a/b.h", "/// Returns the nodes that fit."},
    {"src/a/b.cc", "// Users who run vLLM set this."},
    {"src/a/b.cc", "// The scheduler waits for the lock."},
    {"src/a/b.cc", "// The history of the hill is here."},
    {"src/a/b.cc", "// The pod is counted whether it fits or not; the histogram shows it."},
    {"src/a/b.cc", "int a = 0;  ///< free GPUs of the open nodes, thousandths"},
    {"src/a/b.cc", "// The write may have taken effect despite this error."},
    {"src/a/b.cc", "// The same for all nodes."},
    {"src/a/b.cc", "// A code keeps its meaning permanently."},
    {"src/a/b.cc", "// The forecast is for every minute."},
    {"src/a/b.cc", "// The handle is in the hand-over record."},
    {"src/a/b.cc", "// The load is known beforehand."},
    {"docs/a.md", "The most expensive node goes first."},
    {"src/a/b.cc", "// The labels distinguish the pools."},
    {"src/a/b.cc", "// Missing is not zero."},
    {"src/a/b.cc", "return \"3.4 replicas\";"},
    {"src/a/b.cc", "return \"2.40 USD/h more\";"},
    {"src/a/b.cc", "constexpr std::int64_t kPerMille = 1000;"},
    {"src/a/b.cc", "const MicroUsd micro_usd = price;"},
    {"src/a/b.h", "/// Returns what the API server answered."},
    {"src/a/b.h", "/// True if the node is empty."},
    {"src/a/b.cc", "// What KEDA calls a trigger is a signal here."},
    {"src/a/b.cc", "// Of 16 GPUs, 8 are free."},
    {"src/a/b.h", "/// This is why the label stays."},
    {"src/a/b.cc", "return \"What is wrong with the manifests\";"},
    {"docs/a.md", "What you see is a table."},
    {"docs/a.md", "Of the nodes, two are empty."},
    {"tests/e2e/a_test.py", "# That is why it waits."},
    {"src/a/b.cc", "return \"https://a.b/What is this\";"},
    {"tests/tree/prose_test.cc", "// whoever names the phrases may"},
    {"web/src/view/a.tsx", "// The texts of the page."},
    {"web/src/a.ts", "const a = `https://a.b/`;"},
};

TEST(Prose, CatchesWhatHasToBeReadTwice) {
  for (const ProseRow& row : kMustCatch) {
    EXPECT_FALSE(check_prose(make_source(row.path, row.line)).empty()) << row.path << ": " << row.line;
  }
}

TEST(Prose, PassesPlainSentences) {
  for (const ProseRow& row : kMustPass) {
    for (const Finding& finding : check_prose(make_source(row.path, row.line))) {
      ADD_FAILURE() << finding.text() << "\n  " << row.line;
    }
  }
}

TEST(Prose, OnlyTheFirstLineOfACommentHasToHaveItsSubject) {
  const std::vector<Finding> found = check_prose(
      make_source("src/a/b.h", "/// Returns true if the pod is\n/// What follows.\nint a;  // What a is.\n"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].line, 3u);
}

TEST(Prose, EveryHabitIsCaughtOnce) {
  for (const Habit& habit : habits()) {
    const std::string line = std::string("The value, ") + habit.phrase + ", counts.";
    EXPECT_FALSE(check_prose(make_source("docs/a.md", line)).empty()) << habit.phrase;
  }
}

TEST(Prose, UnreadFoldersAndFilesAreLeftOut) {
  const std::vector<std::string> unread =
      parse_unread("# a comment\n\nsrc/sim/cluster: rebuilt later\ndocs/a.md: long\n");
  EXPECT_EQ(unread, (std::vector<std::string>{"src/sim/cluster", "docs/a.md"}));
  EXPECT_TRUE(is_unread(make_source("src/sim/cluster/cluster.cc", ""), unread));
  EXPECT_TRUE(is_unread(make_source("docs/a.md", ""), unread));
  EXPECT_FALSE(is_unread(make_source("src/sim/cluster.cc", ""), unread));
}

}  // namespace
}  // namespace capstan::tree
