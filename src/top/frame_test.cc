#include "top/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "experiment/text/layout.h"

namespace capstan::top {
namespace {

using namespace std::chrono_literals;
using Phase = model::Gang::Phase;

NodeFacts node(std::string name, std::initializer_list<std::pair<GpuUse, std::int64_t>> uses) {
  NodeFacts facts{.name = std::move(name),
                  .gpu = "H100",
                  .instance_type = "p5.48xlarge",
                  .zone = "a",
                  .capacity = "on-demand",
                  .per_hour = MicroUsd{55'040'000}};
  for (const auto& [use, gpus] : uses) at(facts.uses, use) = whole_gpus(gpus);
  return facts;
}

/// A service with too few replicas, one of which waits for GPUs that are stranded.
Facts facts() {
  Facts all{.policy = "queue · gang", .at = {17min + 20s}, .services = {}, .replicas = {}, .nodes = {}};
  ServiceFacts chat{.name = "chat", .desired = 4, .late_ppm = 12'345, .late_allowed_ppm = 10'000};
  chat.replicas.ready = 2, chat.replicas.starting = 1, chat.replicas.pending = 1;
  chat.replicas.held.gpus = whole_gpus(12), chat.replicas.held.per_hour = {82'560'000};
  chat.waiting = 1'234, chat.ttft_p99_us = 1'620'000, chat.why = "140 requests wait";
  all.services = {chat, {.name = "batch", .desired = 0}};
  all.replicas = {{.name = "chat 7",
                   .phase = Phase::pending,
                   .pods = 4,
                   .bound = 0,
                   .gpus = whole_gpus(4),
                   .gpu = "H100",
                   .age = 63s,
                   .limit = {explain::Layer::placement, "4 H100 are free, but at most 2 in one node, 4 needed",
                             "free 2 H100 in node-b, or allow a wider topology level"}},
                  {.name = "chat 6",
                   .phase = Phase::starting,
                   .pods = 4,
                   .bound = 4,
                   .gpus = whole_gpus(4),
                   .gpu = "H100",
                   .age = 20s,
                   .ready_in = 100s,
                   .nodes = "node-b"},
                  {.name = "chat 1",
                   .phase = Phase::ready,
                   .pods = 4,
                   .bound = 4,
                   .gpus = whole_gpus(4),
                   .gpu = "H100",
                   .age = 17min,
                   .nodes = "node-a and 1 more"}};
  all.nodes = {node("node-a", {{GpuUse::serving, 6}, {GpuUse::stranded, 2}}),
               node("node-b", {{GpuUse::serving, 2}, {GpuUse::starting, 4}, {GpuUse::stranded, 2}}),
               node("claim 3", {{GpuUse::unusable, 8}})};
  all.nodes[0].age = 17min, all.nodes[0].pods = 6;
  all.nodes[1].age = 5min, all.nodes[1].pods = 6, all.nodes[1].capacity = "spot", all.nodes[1].per_hour = {20'000'000};
  all.nodes[2].state = NodeFacts::State::launching, all.nodes[2].ready_in = 90s, all.nodes[2].age = 10s;
  all.nodes[2].per_hour.reset();
  all.totals = {.nodes = 3,
                .launching = 1,
                .leaving = 0,
                .per_hour = {75'040'000},
                .unpriced = 1,
                .replicas = {.ready = 1, .starting = 1, .waiting = 1},
                .others = {}};
  for (const NodeFacts& row : all.nodes) {
    for (std::size_t i = 0; i < kGpuUses; ++i) all.totals.uses[i] += row.uses[i];
  }
  return all;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (; !text.empty(); text.remove_prefix(text.find('\n') + 1)) lines.emplace_back(text.substr(0, text.find('\n')));
  return lines;
}

TEST(Frame, ShowsServicesReplicasAndNodes) {
  EXPECT_EQ(frame(facts(), {.source = "hour.rec"}), R"(hour.rec · queue · gang · 00:17:20
3 nodes, 1 on the way · 24 GPUs: 12 held, 0 free, 4 stranded
75.04 USD/h, 54,779 USD a month and 1 node without a known price
█████████████░░░░░░░×××××××-------------  replicas: 1 ready, 1 starting, 1 waiting

SERVICE  wanted  ready  starting  waiting  draining  requests waiting  late / allowed  TTFT p99  GPUs  USD/h
chat          4      2         1        1         0             1,234     1.2 % / 1 %    1.62 s    12  82.56
batch         0      0         0        0         0           unknown         unknown               0

REPLICA  state                            pods  GPUs  GPU         age  nodes
chat 7   waiting                        0 of 4     4  H100  1 min 3 s
    placement: 4 H100 are free, but at most 2 in one node, 4 needed; free 2 H100 in node-b, or allow a wider topology
    level
chat 6   starting, ready in 1 min 40 s       4     4  H100       20 s  node-b

NODE     GPUs        held  pods  GPU   type         zone  capacity     USD/h     age  state
node-a   ██████××  6 of 8     6  H100  p5.48xlarge  a     on-demand    55.04  17 min
node-b   ██░░░░××  6 of 8     6  H100  p5.48xlarge  a     spot         20.00   5 min
claim 3  --------  0 of 8     0  H100  p5.48xlarge  a     on-demand  unknown    10 s  launching, ready in 1 min 30 s
█ serving  ░ starting  × stranded  - takes no pods

READY REPLICA  pods  GPUs  GPU      age  nodes
chat 1            4     4  H100  17 min  node-a and 1 more
)");
}

TEST(Frame, CountsJobsApartFromReplicas) {
  Facts with_jobs = facts();
  with_jobs.totals.others = {.ready = 8, .starting = 0, .waiting = 2};
  const std::string text = frame(with_jobs, {.source = "hour.rec"});
  EXPECT_NE(
      text.find("  replicas: 1 ready, 1 starting, 1 waiting · gangs of no service: 8 ready, 0 starting, 2 waiting"),
      text.npos)
      << text;
}

TEST(Frame, ReplicasThatWaitForTheSameReasonShareIt) {
  Facts queued = facts();
  queued.replicas.front().limit.change = "free 2 H100 in node-b";
  const ReplicaFacts waiting = queued.replicas.front();
  queued.replicas.erase(queued.replicas.begin() + 1, queued.replicas.end());
  for (const char* name : {"job 1", "job 2", "job 3", "job 4", "job 5"}) {
    queued.replicas.push_back(waiting);
    queued.replicas.back().name = name;
    queued.replicas.back().limit = {explain::Layer::queue, "queue batch is full", ""};
  }
  queued.replicas.push_back(waiting);
  queued.replicas.back().name = "chat 8";
  const std::string text = frame(queued, {.output = {.width = 200}, .source = "hour.rec"});
  const std::size_t from = text.find("REPLICA  state");
  EXPECT_EQ(text.substr(from, text.find("\n\n", from) - from),
            R"(REPLICA  state      pods  GPUs  GPU         age
chat 7   waiting  0 of 4     4  H100  1 min 3 s
chat 8   waiting  0 of 4     4  H100  1 min 3 s
    placement: 4 H100 are free, but at most 2 in one node, 4 needed; free 2 H100 in node-b
job 1    waiting  0 of 4     4  H100  1 min 3 s
job 2    waiting  0 of 4     4  H100  1 min 3 s
job 3    waiting  0 of 4     4  H100  1 min 3 s
  2 more wait for the same reason
    queue: queue batch is full)");
}

TEST(Frame, LeavesOutColumnsOnANarrowTerminal) {
  EXPECT_EQ(frame(facts(), {.output = {.width = 60, .utf8 = false}, .source = "hour.rec"}),
            R"(hour.rec - queue - gang - 00:17:20
3 nodes, 1 on the way - 24 GPUs: 12 held, 0 free, 4 stranded
75.04 USD/h, 54,779 USD a month and 1 node without a known ~
######+++xxx------  replicas: 1 ready, 1 starting, 1 waiting

SERVICE  wanted  ready  starting  waiting  late / allowed
chat          4      2         1        1     1.2 % / 1 %
batch         0      0         0        0         unknown

REPLICA  state                            pods  GPUs  nodes
chat 7   waiting                        0 of 4     4
    placement: 4 H100 are free, but at most 2 in one node, 4
    needed; free 2 H100 in node-b, or allow a wider topology
    level
chat 6   starting, ready in 1 min 40 s       4     4  node-b

NODE     GPUs        held  state
node-a   ######xx  6 of 8
node-b   ##++++xx  6 of 8
claim 3  --------  0 of 8  launching, ready in 1 min 30 s
# serving  + starting  x stranded  - takes no pods

READY REPLICA  pods  GPUs  GPU      age  nodes
chat 1            4     4  H100  17 min  node-a and 1 more
)");
}

TEST(Frame, FitsEveryTerminal) {
  const Facts all = facts();
  for (std::size_t width = 0; width < 160; width += 7) {
    for (std::size_t height = 1; height < 40; height += 3) {
      for (const std::size_t scroll : {0u, 5u, 1000u}) {
        View view{.output = {.width = width},
                  .height = height,
                  .scroll = scroll,
                  .source = "hour.rec",
                  .state = "paused",
                  .notice = "hour.rec: database disk image is malformed",
                  .takes_keys = true};
        const std::vector<std::string> lines = lines_of(frame(all, view));
        EXPECT_EQ(lines.size(), height) << width;
        for (const std::string& line : lines) EXPECT_LE(experiment::columns(line), width) << line;
        EXPECT_LE(max_scroll(all, view), 1000u);
        view.output.color = true;
        EXPECT_EQ(lines_of(frame(all, view)).size(), height);
      }
    }
  }
}

TEST(Frame, ScrollsToTheLastLine) {
  View view{.output = {.width = 120}, .height = 10, .source = "s", .takes_keys = true};
  view.scroll = max_scroll(facts(), view);
  const std::vector<std::string> lines = lines_of(frame(facts(), view));
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_TRUE(lines[8].starts_with("chat 1")) << lines[8];
  EXPECT_NE(lines[9].find("lines 15 to 19 of 19"), std::string::npos) << lines[9];
  view.height = 100;
  EXPECT_EQ(max_scroll(facts(), view), 0u);
}

TEST(Frame, SortsTheNodes) {
  const auto order = [](NodeOrder sort) {
    std::string names;
    for (const std::string& line : lines_of(frame(facts(), {.sort = sort}))) {
      if (line.starts_with("node-") || line.starts_with("claim")) names += line.substr(0, 7);
    }
    return names;
  };
  EXPECT_EQ(order(NodeOrder::id), "node-a node-b claim 3");
  EXPECT_EQ(order(NodeOrder::price), "node-a node-b claim 3");
  EXPECT_EQ(order(NodeOrder::age), "claim 3node-b node-a ");
  Facts more = facts();
  at(more.nodes[1].uses, GpuUse::free) = whole_gpus(1);
  EXPECT_LT(frame(more, {.sort = NodeOrder::free}).find("\nnode-b"),
            frame(more, {.sort = NodeOrder::free}).find("\nnode-a"));
}

TEST(Frame, NamesAreTextAndNothingElse) {
  Facts all = facts();
  all.nodes[0].name = "evil\x1b[2J\x1b]0;title\x07";
  all.replicas[0].name = "two\nlines";
  all.replicas[0].limit.text = "quota \x9b of \u202e";
  all.services[0].name = "tab\tname";
  all.policy = "p\r";
  for (const bool color : {false, true}) {
    const std::string text = frame(all, {.output = {.color = color}, .source = "a\x1b[5mb"});
    std::size_t escapes = 0, own = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      EXPECT_TRUE(byte >= 0x20 || byte == '\n' || byte == 0x1b);
      escapes += byte == 0x1b ? 1 : 0;
      // The escape sequence of a colour is "[" and one or two digits, followed by "m".
      if (byte == 0x1b) own += text[i + 1] == '[' && (text[i + 3] == 'm' || text[i + 4] == 'm') ? 1 : 0;
    }
    EXPECT_EQ(escapes, own);
    EXPECT_EQ(escapes > 0, color);
    EXPECT_EQ(text.find("[2J") != std::string::npos, true);
    EXPECT_EQ(text.find("\x1b[2J"), std::string::npos);
    EXPECT_EQ(text.find("\u202e"), std::string::npos);
  }
}

TEST(Frame, AnEmptyClusterAndAControllersClock) {
  EXPECT_EQ(frame({.policy = "any", .at = {std::chrono::seconds(1'795'000'000)}}, {.source = "cluster"}),
            "cluster · any · 2026-11-18 11:06:40 UTC\n"
            "0 nodes · 0 GPUs: 0 held, 0 free, 0 stranded · 0.00 USD/h, 0 USD a month\n"
            "replicas: 0 ready, 0 starting, 0 waiting\n");
  Facts one{.policy = "any", .at = {std::chrono::seconds(1'795'000'000)}};
  one.totals.uses[static_cast<std::size_t>(GpuUse::free)] = whole_gpus(1);
  EXPECT_NE(frame(one, {.source = "cluster"}).find(" · 1 GPU: 0 held, 1 free,"), std::string::npos);
}

}  // namespace
}  // namespace capstan::top
