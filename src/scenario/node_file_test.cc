// Goal: a CSV file of nodes becomes groups of equal nodes, and a wrong row is an error with its place.
#include "scenario/node_file.h"

#include <gtest/gtest.h>

namespace capstan::scenario {
namespace {

TEST(NodeFile, EqualRowsAreOneGroup) {
  const auto nodes = read_node_file(
      "sn,cpu_milli,memory_mib,gpu,model\n"
      "a,64000,262144,2,P100\nb,96000,393216,8,T4\nc,64000,262144,2,P100\nd,8000,1024,0,\n",
      "nodes.csv");
  ASSERT_TRUE(nodes.has_value()) << nodes.error().text();
  ASSERT_EQ(nodes->size(), 2u) << "a node without a GPU is skipped";
  EXPECT_EQ((*nodes)[0].gpu, "P100");
  EXPECT_EQ((*nodes)[0].count, 2);
  EXPECT_EQ((*nodes)[1].gpus, 8);
  EXPECT_EQ((*nodes)[1].cpu_milli, 96000);
  EXPECT_EQ((*nodes)[1].memory_mib, 393216);
}

TEST(NodeFile, WrongRowsAreErrorsWithTheirPlace) {
  const auto error_of = [](const char* text) {
    const auto nodes = read_node_file(text, "nodes.csv");
    return nodes ? std::string() : nodes.error().text();
  };
  EXPECT_NE(error_of("sn,cpu_milli,memory_mib,gpu\na,1,1,1\n").find("model"), std::string::npos);
  EXPECT_TRUE(error_of("cpu_milli,memory_mib,gpu,model\n1,1,2000,T4\n").starts_with("nodes.csv:2:"));
  EXPECT_TRUE(error_of("cpu_milli,memory_mib,gpu,model\nx,1,2,T4\n").starts_with("nodes.csv:2:1"));
  EXPECT_NE(error_of("cpu_milli,memory_mib,gpu,model\n1,1,2,\n").find("expected the kind of the GPUs"),
            std::string::npos);
}

}  // namespace
}  // namespace capstan::scenario
