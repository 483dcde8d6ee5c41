#include "plan/against/fold_yaml.h"

#include <gtest/gtest.h>

#include "manifest/yaml.h"
#include "plan/against/existing_object.h"

namespace capstan::plan {
namespace {

TEST(FoldYaml, BreaksTextsAndCommentsButNotTheirMeaning) {
  const std::string yaml =
      "# one two three four five six seven eight\n"
      "query: \"sum(rate(vllm:generation_tokens_total{namespace=\\\"a\\\",name=\\\"chat\\\"}[1m])) + sum(b) + "
      "sum(c)\"\n"
      "plain: one two three four five six seven eight nine\n";
  const std::string folded = folded_yaml(yaml, 40);
  EXPECT_EQ(yaml_of(manifest::parse(folded, "a.yaml").value()).flow(),
            yaml_of(manifest::parse(yaml, "a.yaml").value()).flow());
  EXPECT_TRUE(folded.starts_with("# one two three four five six seven\n# eight\nquery: ")) << folded;
  EXPECT_NE(folded.find(",\\\n    name="), std::string::npos) << folded;
  EXPECT_NE(folded.find("\n    sum(c)\"\n"), std::string::npos) << folded;
}

TEST(FoldYaml, LeavesScriptsAlone) {
  const std::string yaml = "run: |\n  echo \"one two three four five six seven eight\"\nnext: 1\n";
  EXPECT_EQ(folded_yaml(yaml, 20), yaml);
}

}  // namespace
}  // namespace capstan::plan
