#include "lint/lsp/language_server.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace capstan::lint::language_server_test {
namespace {

using Json = nlohmann::json;

const std::string kText =
    "# ü 😀\napiVersion: v1\nkind: Pod\nspec: {containers: [{name: \"😀\", image: k8s.gcr.io/pause:3.10}]}\n";

std::vector<Json> send(LanguageServer& server, const Json& message) {
  std::vector<Json> out;
  for (const std::string& text : server.take(message.dump())) out.push_back(Json::parse(text));
  return out;
}

Json open_message(const std::string& text) {
  return {{"method", "textDocument/didOpen"},
          {"params", {{"textDocument", {{"uri", "file:///a.yaml"}, {"text", text}}}}}};
}

TEST(LanguageServer, HandlesASessionFromBeginningToEnd) {
  LanguageServer server{Options()};
  const Json hello = send(server, {{"id", 1}, {"method", "initialize"}, {"params", Json::object()}}).at(0);
  EXPECT_TRUE(hello["result"]["capabilities"]["hoverProvider"]);
  const Json opened = send(server, open_message(kText)).at(0);
  const Json& diagnostic = opened["params"]["diagnostics"].at(0);
  EXPECT_EQ(diagnostic["code"], "image-registry-frozen");
  EXPECT_EQ(diagnostic["range"]["start"]["line"], 3);
  EXPECT_EQ(diagnostic["range"]["start"]["character"], 40) << "an emoji is two units";
  const Json place = {{"textDocument", {{"uri", "file:///a.yaml"}}}, {"position", {{"line", 3}, {"character", 42}}}};
  const Json hover = send(server, {{"id", 2}, {"method", "textDocument/hover"}, {"params", place}}).at(0);
  EXPECT_NE(hover["result"]["contents"]["value"].get<std::string>().find("# image-registry-frozen"), std::string::npos);
  const Json asked = {{"textDocument", {{"uri", "file:///a.yaml"}}}, {"range", diagnostic["range"]}};
  const Json action =
      send(server, {{"id", 3}, {"method", "textDocument/codeAction"}, {"params", asked}}).at(0)["result"].at(0);
  const Json& edit = action["edit"]["changes"]["file:///a.yaml"].at(0);
  EXPECT_EQ(edit["newText"], "registry.k8s.io/");
  EXPECT_EQ(edit["range"]["end"]["character"], 51);
  EXPECT_EQ(action["isPreferred"], false) << "another image restarts the pods";
  const Json closed =
      send(server, {{"method", "textDocument/didClose"}, {"params", {{"textDocument", {{"uri", "file:///a.yaml"}}}}}})
          .at(0);
  EXPECT_TRUE(closed["params"]["diagnostics"].empty());
  send(server, {{"id", 4}, {"method", "shutdown"}});
  send(server, {{"method", "exit"}});
  EXPECT_TRUE(server.ended() && server.shut_down());
}

/// An editor applies the preferred fix without a question, so only a safe fix is preferred.
TEST(LanguageServer, OnlyASafeFixIsPreferred) {
  LanguageServer server{Options()};
  const std::string text =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: a}\n"
      "  minReplicaCount: 1\n  maxReplicaCount: 4\n"
      "  advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleDown: {stabilizationWindowSeconds: 10}}}}\n"
      "  triggers:\n    - type: prometheus\n      metadata: {query: 'sum(vllm:gpu_cache_usage_perc{namespace=\"a\"})', "
      "threshold: \"0.8\"}\n"
      "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}, "
      "template: {spec: {containers: [{name: a, image: 'vllm/vllm-openai:v0.20.0', resources: {limits: "
      "{nvidia.com/gpu: 1}}}]}}}\n";
  send(server, open_message(text));
  const Json asked = {
      {"textDocument", {{"uri", "file:///a.yaml"}}},
      {"range", {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 12}, {"character", 0}}}}}};
  const Json actions =
      send(server, {{"id", 3}, {"method", "textDocument/codeAction"}, {"params", asked}}).at(0)["result"];
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(actions[0]["title"], "scaledown-window-too-short: set stabilizationWindowSeconds to 600");
  EXPECT_EQ(actions[0]["isPreferred"], false);
  EXPECT_EQ(actions[1]["title"], "metric-removed: replace vllm:gpu_cache_usage_perc with vllm:kv_cache_usage_perc");
  EXPECT_EQ(actions[1]["isPreferred"], true);
}

/// A file is often broken while it is edited. The syntax error is then a diagnostic at its place.
TEST(LanguageServer, ABrokenJsonIsADiagnostic) {
  LanguageServer server{Options()};
  const Json message = {
      {"method", "textDocument/didOpen"},
      {"params", {{"textDocument", {{"uri", "file:///a.json"}, {"text", "{\"apiVersion\": \"v1\", \"kind\": "}}}}}};
  EXPECT_EQ(send(server, message).at(0)["params"]["diagnostics"].at(0)["code"], "yaml-syntax");
}

TEST(LanguageServer, AnInvalidMessageDoesNotEndTheSession) {
  LanguageServer server{Options()};
  for (const char* text :
       {"", "{", "[]", "3", "{\"method\": 3}", "{\"method\": \"textDocument/didChange\", \"params\": 3}",
        "{\"method\": \"textDocument/didOpen\"}", "{\"method\": \"x\"}"}) {
    server.take(text);
  }
  EXPECT_EQ(send(server, {{"id", 1}, {"method", "nothing"}}).at(0)["error"]["code"], -32601);
  EXPECT_FALSE(server.ended());
}

TEST(LanguageServer, AcceptsFramesInAnyPieces) {
  const std::string stream = frame("{}") + frame("[1]");
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameReader reader;
    std::vector<std::string> messages;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      EXPECT_TRUE(reader.take(std::string_view(stream).substr(at, piece), messages));
    }
    EXPECT_EQ(messages, (std::vector<std::string>{"{}", "[1]"}));
  }
  std::vector<std::string> messages;
  EXPECT_FALSE(FrameReader().take("GET / HTTP/1.1\r\n\r\n", messages));
  EXPECT_FALSE(FrameReader().take("Content-Length: 99999999999\r\n\r\n", messages));
  EXPECT_FALSE(FrameReader().take(std::string(5000, 'x'), messages));
}

}  // namespace
}  // namespace capstan::lint::language_server_test
