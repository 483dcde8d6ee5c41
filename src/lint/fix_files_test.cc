#include "lint/fix_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace capstan::lint::fix_files_test {
namespace {

namespace fs = std::filesystem;

/// One safe fix (metricName) and one unsafe fix (minReplicaCount).
const std::string kScaler =
    "apiVersion: keda.sh/v1alpha1\n"
    "kind: ScaledObject\n"
    "metadata: {name: vllm}\n"
    "spec:\n"
    "  scaleTargetRef: {name: vllm}\n"
    "  minReplicaCount: 0  # at night\n"
    "  maxReplicaCount: 8\n"
    "  triggers:\n"
    "    - type: prometheus\n"
    "      metadata:\n"
    "        metricName: waiting  # for the dashboard\n"
    "        query: sum(vllm:num_requests_waiting{namespace=\"a\"})\n"
    "        threshold: \"5\"\n";

class FixFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("fix_files_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "app");
    fs::create_directories(folder_ / "link");
    write("app/a.yaml", kScaler);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string text(const std::string& name) const { return read_file(path(name), 1u << 20).value_or("unreadable"); }

  lint::Report lint(const std::vector<std::string>& names) const {
    std::vector<lint::Candidate> files;
    for (const std::string& name : names) files.push_back({path(name), true});
    lint::Options options;
    options.advice = true;
    return lint::lint_files(files, options);
  }

  fs::path folder_;
};

std::string replaced(std::string text, const std::string& part, const std::string& instead = "") {
  return text.replace(text.find(part), part.size(), instead);
}

const std::string kSafelyFixed = replaced(kScaler, "metricName: waiting  #", "#");
const std::string kFullyFixed = replaced(kSafelyFixed, "minReplicaCount: 0", "minReplicaCount: 1");

TEST_F(FixFiles, WritesSafeFixesOrAllOfThem) {
  const struct {
    FixSafety safety;
    const std::string& text;
    const char* words;
  } rows[] = {{FixSafety::safe, kSafelyFixed, "fixed 1 finding in 1 file\n"},
              {FixSafety::unsafe, kFullyFixed, "fixed 2 findings in 1 file\n"}};
  for (const auto& row : rows) {
    write("app/a.yaml", kScaler);
    const lint::Report report = lint({"app/a.yaml"});
    const auto files = lint::apply_fixes(report, row.safety);
    EXPECT_TRUE(write_fixes(files).empty());
    EXPECT_EQ(text("app/a.yaml"), row.text);
    EXPECT_EQ(fixed_words(files), row.words);
  }
}

TEST_F(FixFiles, TheDiffShowsWhatIsWritten) {
  const lint::Report report = lint({"app/a.yaml"});
  const std::string diff = diff_of(lint::apply_fixes(report, FixSafety::safe));
  EXPECT_NE(diff.find("-        metricName: waiting  # for the dashboard\n+        # for the dashboard\n"),
            std::string::npos)
      << diff;
  EXPECT_EQ(diff.find("minReplicaCount: 1"), std::string::npos) << diff;
  const std::string all = diff_of(lint::apply_fixes(report, FixSafety::unsafe));
  EXPECT_NE(all.find("-  minReplicaCount: 0  # at night\n+  minReplicaCount: 1  # at night\n"), std::string::npos)
      << all;
}

TEST_F(FixFiles, OneFileUnderTwoNamesIsFixedOnce) {
  fs::create_symlink("../app/a.yaml", folder_ / "link/b.yaml");
  const lint::Report report = lint({"app/a.yaml", "link/b.yaml"});
  const auto files = lint::apply_fixes(report, FixSafety::safe);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(write_fixes(files).empty());
  EXPECT_EQ(text("app/a.yaml"), kSafelyFixed);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link/b.yaml"));
}

TEST_F(FixFiles, AFileThatChangedMeanwhileIsLeftAlone) {
  const lint::Report report = lint({"app/a.yaml"});
  const std::string edited = kScaler + "# edited\n";
  write("app/a.yaml", edited);
  const std::vector<Error> errors = write_fixes(lint::apply_fixes(report, FixSafety::safe));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].text(), path("app/a.yaml") + ": changed since it was read, so it is left as it is");
  EXPECT_EQ(text("app/a.yaml"), edited);
}

TEST_F(FixFiles, AFixThatScalesToOneReplicaHasACaution) {
  write("app/d.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: vllm}\nspec:\n  replicas: 2\n  selector: {}\n---\n"
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: vllm}\n"
        "spec: {scaleTargetRef: {kind: Deployment, name: vllm}, maxReplicas: 4}\n");
  const lint::Report report = lint({"app/d.yaml"});
  EXPECT_EQ(fix_notes(lint::apply_fixes(report, FixSafety::safe)), "") << "the fix is not safe";
  EXPECT_EQ(fix_notes(lint::apply_fixes(report, FixSafety::unsafe)),
            path("app/d.yaml") +
                ":5:13: deployment-replicas-with-autoscaler: caution: the first apply without replicas scales "
                "Deployment vllm to the default of 1 once; to avoid this, first delete replicas with `kubectl apply "
                "edit-last-applied Deployment/vllm`\n");
}

}  // namespace
}  // namespace capstan::lint::fix_files_test
