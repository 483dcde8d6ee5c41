#include "lint/serving.h"

#include "lint/testing/cases.h"

namespace capstan::lint::serving_test {
namespace {

using namespace testing_cases;

TEST(Serving, RecognisesPodsWithoutRequests) {
  struct Row {
    const char* container;
    bool is_placeholder;
  };
  const Row rows[] = {
      {"image: 'registry.k8s.io/pause:3.10'", true},
      {"image: 'pause'", true},
      {"image: 'example.com/pauseless:1'", false},
      {"image: 'cuda:1', command: [sleep, infinity]", true},
      {"image: 'cuda:1', command: [sh, -c, 'nvidia-smi; sleep 60']", true},
      {"image: 'cuda:1', command: [sh, -c, 'while true; do vectorAdd; done']", true},
      {"image: 'cuda:1', command: [sh, -c, 'trap exit TERM; sleep 1d & wait']", true},
      {"image: 'cuda:1', command: [tail, -f, /dev/null]", true},
      {"image: 'cuda:1', command: [sh, -c, 'sleep 10 && exec server']", false},
      {"image: 'a:1', command: [sh, -c, 'vllm serve m & sleep infinity']", false},
      {"image: 'vllm/vllm-openai:v0.20.0', args: [--model, m]", false},
  };
  for (const Row& row : rows) {
    File file("a.yaml", server(row.container));
    file.documents = manifest::Documents::parse(file.text);
    std::vector<Object> objects;
    find_objects(file, file.documents.all()[0].root, objects);
    EXPECT_EQ(is_placeholder(objects.at(0), pods_of(objects.at(0))[0]), row.is_placeholder) << row.container;
  }
}

TEST(Serving, RecognisesContainersThatTakeRequests) {
  const std::string service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: {a: b}}\n";
  const auto asked = [](const std::string& yaml) { return found(yaml, "grace-period-too-short"); };
  EXPECT_EQ(asked(server("image: 'a:1'")), "none");
  EXPECT_EQ(asked(server("image: 'a:1', ports: [{containerPort: 80}]")), "info");
  EXPECT_EQ(asked(server("image: 'a:1', livenessProbe: {exec: {command: [x]}}")), "info");
  EXPECT_EQ(asked(server("image: 'a:1', command: [vllm, serve, m]")), "info");
  EXPECT_EQ(asked(server("image: 'a:1'") + service), "info");
}

}  // namespace
}  // namespace capstan::lint::serving_test
