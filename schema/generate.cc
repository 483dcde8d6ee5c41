// Writes the CustomResourceDefinitions and reference pages of schema/crds, the reference pages of the lint rules and of
// the reasons, and the dashboards and alerts of the controller and of the engines.
//   generate SOURCE_DIR      scripts/generate builds and runs this program
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "explain/reason_page.h"
#include "lint/explain_rule.h"
#include "lint/rules.h"
#include "plan/monitoring/controller_monitoring.h"
#include "plan/monitoring/engine_monitoring.h"
#include "plan/objects/names.h"
#include "schema/crd.h"

namespace {

namespace fs = std::filesystem;
using capstan::Result;

bool write(const fs::path& path, const Result<std::string>& text) {
  if (!text) {
    std::fprintf(stderr, "%s\n", text.error().text().c_str());
    return false;
  }
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << *text;
  std::printf("generate: %s\n", path.c_str());
  return out.good();
}

bool generate(const fs::path& root, const fs::path& description) {
  const Result<capstan::manifest::Node> node = capstan::manifest::parse_file(description.string());
  if (!node) {
    std::fprintf(stderr, "%s\n", node.error().text().c_str());
    return false;
  }
  const std::string name = description.stem().string();
  return write(root / "deploy/crds" / (name + ".yaml"), capstan::schema::crd_yaml(*node)) &&
         write(root / "docs/reference" / (name + ".md"), capstan::schema::reference_page(*node));
}

/// Writes a page for each lint rule, and the page that lists them.
bool generate_rules(const fs::path& folder) {
  bool ok = write(folder / "README.md", capstan::lint::rules_page());
  for (const capstan::lint::Rule* rule : capstan::lint::all_rules()) {
    ok = write(folder / (std::string(rule->id) + ".md"), capstan::lint::rule_page(*rule)) && ok;
  }
  return ok;
}

bool generate_monitoring(const fs::path& root) {
  const std::string source = (root / "schema/controller-monitoring.yaml").string();
  std::ifstream file(source, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto templates = capstan::plan::MonitoringTemplates::parse(text, source);
  if (!templates) {
    std::fprintf(stderr, "%s\n", templates.error().text().c_str());
    return false;
  }
  const fs::path folder = root / "deploy/monitoring";
  bool ok = write(folder / "grafana-dashboard.json", capstan::plan::controller_dashboard(*templates)) &&
            write(folder / "prometheus-rules.yaml", capstan::plan::controller_rules(*templates));
  using capstan::plan::Engine;
  for (const Engine engine : {Engine::vllm, Engine::sglang, Engine::tensorrt_llm, Engine::triton}) {
    const std::string name(capstan::plan::engine_key(engine));
    ok = write(folder / (name + "-dashboard.json"), capstan::plan::engine_dashboard(engine)) &&
         write(folder / (name + "-rules.yaml"), capstan::plan::engine_rules(engine)) && ok;
  }
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: generate SOURCE_DIR\n");
    return 64;
  }
  const fs::path root = argv[1];
  bool ok = generate_rules(root / "docs/reference/lint");
  ok = write(root / "docs/reference/troubleshooting.md", capstan::explain::troubleshooting_page()) && ok;
  for (const auto& entry : fs::directory_iterator(root / "schema/crds")) {
    if (entry.path().extension() == ".yaml") ok = generate(root, entry.path()) && ok;
  }
  ok = generate_monitoring(root) && ok;
  return ok ? 0 : 1;
}
