// Reads any bytes as YAML, as manifests with both readers of documents, and as a `--set` on a tree.
#include <cstdio>
#include <string>

#include "check_error.h"
#include "manifest/document_reader.h"
#include "manifest/path.h"
#include "manifest/testing/same_document.h"
#include "manifest/yaml.h"

namespace {

using capstan::manifest::Node;

/// Checks that a tree is within the reader's limits of values and depth and that its keys are unique.
void check(const Node& node, std::size_t depth, std::size_t& values) {
  CAPSTAN_ASSERT(++values <= capstan::manifest::Limits{}.nodes && depth <= capstan::manifest::kMaxYamlDepth + 1);
  for (const Node& item : node.items) check(item, depth + 1, values);
  for (std::size_t i = 0; i < node.entries.size(); ++i) {
    CAPSTAN_ASSERT(node.find(node.entries[i].key) == &node.entries[i].value);  // keys are unique
    check(node.entries[i].value, depth + 1, values);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Node> tree = manifest::parse(text, "fuzz.yaml");
  std::size_t values = 0;
  tree ? check(*tree, 0, values) : fuzz::check_error(tree.error());

  const manifest::DocumentLimits limits;
  const std::string difference =
      manifest::testing::difference(manifest::read_documents(text, limits, manifest::FirstReader::plain),
                                    manifest::read_documents(text, limits, manifest::FirstReader::libfyaml));
  if (!difference.empty()) std::fprintf(stderr, "%s\n", difference.c_str());
  CAPSTAN_ASSERT(difference.empty());

  Result<Node> root = manifest::parse("load: {scale: 1}\nlist: [{name: a}]\n", "base.yaml");
  const Result<void> set = manifest::apply_set(*root, text);
  if (!set) fuzz::check_error(set.error());
  return 0;
}
