#include "plan/against/engine_arguments.h"

#include <gtest/gtest.h>

#include "plan/against/existing_object.h"

namespace capstan::plan {
namespace {

manifest::Node engine_of(const std::string& text) { return manifest::parse(text, "old.yaml").value(); }

/// Returns the changes as "found -> planned", or "+ planned" for an absent option.
std::vector<std::string> argument_changes(const std::string& planned, const std::string& container) {
  const manifest::Node existing = engine_of(container);
  std::vector<std::string> out;
  for (const ArgumentChange& change : compare_arguments(yaml_of(engine_of(planned)), existing)) {
    out.push_back(change.place == nullptr ? "+ " + change.planned : change.found + " -> " + change.planned);
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST(EngineArguments, ComparesOptionsInEveryForm) {
  const std::string planned = "[--max-num-seqs=256, --tensor-parallel-size=2]";
  EXPECT_EQ(argument_changes(planned, "{args: [--max-num-seqs, '64', -tp, '2']}"), Texts{"64 -> 256"});
  EXPECT_EQ(argument_changes(planned, "{args: [--max_num_seqs=64, --tensor-parallel-size=2]}"),
            Texts{"--max_num_seqs=64 -> --max_num_seqs=256"});
  EXPECT_EQ(argument_changes(planned, "{command: [sh, -c, 'vllm serve a --max-num-seqs 64 -tp 2']}"),
            Texts{"64 -> 256"});
  EXPECT_EQ(argument_changes(planned, "{args: [-tp, '2']}"), Texts{"+ --max-num-seqs=256"});
  EXPECT_EQ(argument_changes("[--tensor-parallel-size=1]", "{args: []}"), Texts{}) << "1 is the default";
}

TEST(EngineArguments, LeavesThePortAndTheNameOfTheModel) {
  EXPECT_EQ(argument_changes("[--port=8000, --served-model-name=a/b]",
                             "{args: [--model=a/b, --port, '9000', --served-model-name, mine]}"),
            Texts{});
}

TEST(EngineArguments, MovesTheModelToTheDiskAndKeepsItsName) {
  const std::string planned = "[--model=/models/a--b, --served-model-name=a/b]";
  EXPECT_EQ(argument_changes(planned, "{command: [vllm, serve, a/b]}"),
            (Texts{"a/b -> /models/a--b", "+ --served-model-name=a/b"}));
  EXPECT_EQ(argument_changes(planned, "{command: [vllm, serve, a/b], args: [--served-model-name, x]}"),
            Texts{"a/b -> /models/a--b"});
  const manifest::Node container = engine_of("{command: [vllm, serve, a/b]}");
  EXPECT_NE(compare_arguments(yaml_of(engine_of(planned)), container)[0].caution.find("init container"),
            std::string::npos);
}

TEST(EngineArguments, FindsThePort) {
  EXPECT_EQ(engine_port(engine_of("{args: [--port, '9000'], ports: [{containerPort: 1}]}")), "9000");
  EXPECT_EQ(engine_port(engine_of("{ports: [{name: metrics, containerPort: 1}, {name: http, containerPort: 2}]}")),
            "2");
  EXPECT_EQ(engine_port(engine_of("{name: a}")), "");
}

}  // namespace
}  // namespace capstan::plan
