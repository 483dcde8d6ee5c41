#include "lint/read.h"

#include <gtest/gtest.h>

#include "lint/input/flat.h"
#include "lint/input/shell_text.h"
#include "lint/render/places.h"
#include "lint/suppress.h"

namespace capstan::lint::read_test {
namespace {

Reading reading_of(const std::string& text) {
  Reading reading;
  reading.file = std::make_unique<File>("a.txt", text);
  return reading;
}

TEST(Read, FindsTheObjectsOfAText) {
  const Reading reading = read_text(
      {"d/a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: n}\n---\njust: values\n", true});
  ASSERT_EQ(reading.objects.size(), 1u);
  EXPECT_EQ(reading.objects[0].title(), "Pod n/p");
  EXPECT_EQ(reading.file->scope, "d");
  EXPECT_EQ(reading.summary.documents, 2u);
}

TEST(Read, RecognisesTextsWithoutIndentation) {
  Reading flat = reading_of("1apiVersion: v1\n2kind: Pod\n3metadata:\n4 name: a\n");
  EXPECT_TRUE(find_flat(*flat.file, flat));
  Reading whole = reading_of("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n");
  EXPECT_FALSE(find_flat(*whole.file, whole));
  EXPECT_TRUE(whole.findings.empty());
}

TEST(Read, ChecksCommandsForGpuNodes) {
  Reading wrong = reading_of("sudo nvidia-smi mig -i 0 -cgi 9,9,9 -C\n");
  search_commands(*wrong.file, wrong);
  ASSERT_EQ(wrong.findings.size(), 1u);
  EXPECT_EQ(places_of(wrong.findings[0]).begin.column, 31u);
  for (const char* right : {"nvidia-smi mig -cgi 19,19,19", "nvidia-smi mig -cgi 1g.5gb,9g", "nvidia-smi mig -cgi",
                            "nvidia-smi mig -cgi "}) {
    Reading reading = reading_of(right);
    search_commands(*reading.file, reading);
    EXPECT_TRUE(reading.findings.empty()) << right;
  }
}

TEST(Read, WithoutAcceptancesNoFindingIsRemoved) {
  Report report;
  Reading reading = read_text({"a.yaml", "a: 1\na: 2\n", true});
  report.files.push_back(std::move(reading.file));
  report.findings = std::move(reading.findings);
  suppress(report, {});
  EXPECT_EQ(report.findings.size(), 1u);
}

}  // namespace
}  // namespace capstan::lint::read_test
