#include "plan/render/key_figures.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

Statement figure(const std::string& subject, const std::string& name, const std::string& value,
                 Visibility visibility = Visibility::page) {
  return {.name = subject + " " + name, .value = value, .visibility = visibility, .subject = subject};
}

TEST(KeyFigures, AreThoseThatTheSectionShows) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}};
  Section section{.key = "warm_pool", .answer = "Keep 3 ready. Images are there.", .page_answer = "Keep 3 ready."};
  section.statements = {figure("chat", "longest cold start", "95 s"),
                        figure("chat", "weights", "46 s", Visibility::details),
                        figure("chat", "balloon", "3 USD/h", Visibility::one_service),
                        {.name = "GPU limit of h100", .value = "8 GPUs", .visibility = Visibility::page}};
  const PageBlock block = block_of(section, spec);
  EXPECT_EQ(block.name, "warm pool");
  EXPECT_EQ(block.answer, "Keep 3 ready.");
  ASSERT_EQ(block.figures.size(), 3u);
  EXPECT_EQ(block.figures[0].name, "longest cold start");
  EXPECT_EQ(block.figures[0].value, "95 s");
  EXPECT_EQ(block.figures[1].name, "balloon");
  EXPECT_EQ(block.figures[2].name, "GPU limit of h100");
  spec.services.push_back({.name = "code"});
  EXPECT_EQ(block_of(section, spec).figures.size(), 2u) << "a figure of plans with one service";
}

TEST(KeyFigures, NameTheServicesThatHaveAValue) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}, {.name = "code"}, {.name = "draft"}};
  Section section{.key = "workload"};
  section.statements = {figure("chat", "startup probe", "10 min"),  figure("chat", "grace period", "2 min"),
                        figure("code", "startup probe", "10 min"),  figure("code", "grace period", "2 min"),
                        figure("draft", "startup probe", "20 min"), figure("draft", "grace period", "2 min")};
  const PageBlock block = block_of(section, spec);
  ASSERT_EQ(block.figures.size(), 2u);
  EXPECT_EQ(block.figures[0].name, "startup probe");
  EXPECT_EQ(block.figures[0].value, "10 min (chat, code), 20 min (draft)");
  EXPECT_EQ(block.figures[1].value, "2 min") << "all services have it";
}

TEST(KeyFigures, NameTheRolesOfTheOnlyService) {
  PlanSpec spec;
  spec.services = {{.name = "chat", .is_disaggregated = true}};
  Section section{.key = "replicas"};
  section.statements = {figure("chat-prefill", "signal", "queue depth"), figure("chat-decode", "signal", "KV pressure"),
                        figure("chat-prefill", "grace period", "2 min"), figure("chat-decode", "grace period", "2 min"),
                        figure("chat", "cold start", "3 min")};
  const PageBlock block = block_of(section, spec);
  ASSERT_EQ(block.figures.size(), 3u);
  EXPECT_EQ(block.figures[0].value, "queue depth (prefill), KV pressure (decode)");
  EXPECT_EQ(block.figures[1].value, "2 min");
  EXPECT_EQ(block.figures[2].value, "3 min");
}

TEST(KeyFigures, OfOtherEvidenceStandApart) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}, {.name = "code"}};
  Section section{.key = "cost"};
  section.statements = {figure("chat", "idle GPUs", "1 USD"), figure("code", "idle GPUs", "1 USD")};
  section.statements[1].evidence = Evidence::simulated;
  const PageBlock block = block_of(section, spec);
  ASSERT_EQ(block.figures.size(), 2u);
  EXPECT_EQ(block.figures[1].value, "1 USD (code)");
}

TEST(KeyFigures, EndWithTheNotesOfTheSection) {
  Section section{.key = "monitoring"};
  section.notes = {{"watch", "Waiting requests"}};
  const PageBlock block = block_of(section, {});
  ASSERT_EQ(block.figures.size(), 1u);
  EXPECT_EQ(block.figures[0].value, "Waiting requests");
  EXPECT_EQ(block.figures[0].evidence, Evidence::none);
}

}  // namespace
}  // namespace capstan::plan
