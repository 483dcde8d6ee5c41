#include "lint/input/recognise.h"

#include <gtest/gtest.h>

namespace capstan::lint::recognise_test {
namespace {

TEST(Recognise, RecognisesTemplates) {
  for (const char* text :
       {"a: {{ .Values.x }}", "{{- if .Values.y }}", "{{ include \"x\" . }}", "{% if x %}", "b: {{ $.Values.z }}"}) {
    EXPECT_TRUE(is_template(text)) << text;
  }
  for (const char* text : {"a: '{{ $labels.pod }} is down'", "legend: \"{{pod}}\"", "a: {b: {c: d}}", "{{", ""}) {
    EXPECT_FALSE(is_template(text)) << text;
  }
}

TEST(Recognise, BinaryBytesAreNotATemplate) {
  for (const std::string_view bytes :
       {std::string_view("\0{{ .Values.x }}", 16), std::string_view("{{ .Values.x }}\x7f"),
        std::string_view("\xff\xfe{{ .Values.x }}"), std::string_view("{% if x %}\x01")}) {
    EXPECT_FALSE(is_template(bytes)) << bytes;
    EXPECT_FALSE(is_text(bytes)) << bytes;
  }
  EXPECT_TRUE(is_text("tab\tand ü\r\n"));
}

TEST(Recognise, FencedYamlKeepsItsPlace) {
  const std::string markdown =
      "# Title\n\n```yaml\napiVersion: v1\nkind: Pod\n```\ntext {{ x }}\n```sh\nkind: no\n```\n~~~yml\nkind: "
      "Pod\n~~~\n";
  const std::string yaml = fenced_yaml(markdown);
  ASSERT_EQ(yaml.size(), markdown.size());
  EXPECT_EQ(yaml.find("apiVersion"), markdown.find("apiVersion"));
  EXPECT_EQ(yaml.find("kind: no"), std::string::npos);
  EXPECT_EQ(yaml.find("Title"), std::string::npos);
  EXPECT_EQ(yaml.substr(9, 3), "---");
  EXPECT_TRUE(fenced_yaml("no fences\n").empty());
  EXPECT_TRUE(fenced_yaml("```yaml\njust: values\n```\n").empty());
}

}  // namespace
}  // namespace capstan::lint::recognise_test
