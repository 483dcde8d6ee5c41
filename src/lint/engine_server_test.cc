#include "lint/engine_server.h"

#include <gtest/gtest.h>

#include <string>

namespace capstan::lint::engine_server_test {
namespace {

/// A container in flow style, and the server that its command line starts.
struct Sample {
  explicit Sample(std::string text_in) : text(std::move(text_in)), documents(manifest::Documents::parse(text)) {}

  const Value& root() const { return documents.all().front().root; }
  std::optional<EngineServer> server() const { return engine_server(root()); }

  std::string text;
  manifest::Documents documents;
};

TEST(EngineServer, ThePortIsTheFlagOrTheDefault) {
  struct Row {
    const char* container;
    std::int64_t port;  ///< 0 if it is unknown
  };
  for (const Row& row : {
           Row{"{image: vllm/vllm-openai, args: [--model, m]}", 8000},
           Row{"{image: vllm/vllm-openai, args: [--model, m, --port, '9000']}", 9000},
           Row{"{image: a, command: [vllm, serve, m, --port=8080]}", 8080},
           Row{"{image: a, command: [python3, -m, sglang.launch_server, --model-path, m]}", 30000},
           Row{"{image: a, command: [sh, -c, 'hf download m && vllm serve m --port 81']}", 81},
           Row{"{image: a, args: [--port, $(P)], command: [vllm, serve, m], env: [{name: P, value: '82'}]}", 82},
           Row{"{image: a, args: [--port, $(P)], command: [vllm, serve, m]}", 0},
           Row{"{image: a, command: [vllm, serve, m, $EXTRA_ARGS]}", 0},
           Row{"{image: a, command: [vllm, serve, $(MODEL), --api-key, $(KEY), --root-path=$(ROOT)]}", 8000},
           Row{"{image: a, command: [vllm, serve, m, --host, $(HOST)]}", 0},
           Row{"{image: a, command: [vllm, serve, m, --config, /etc/vllm.yaml]}", 0},
           Row{"{image: a, command: [sh, -c, 'python proxy.py & vllm serve m --port 81']}", 0},
           Row{"{image: nginx}", 0},
       }) {
    const auto server = Sample(row.container).server();
    EXPECT_EQ(server ? server->port : 0, row.port) << row.container;
  }
}

TEST(EngineServer, OnlySglangListensOnLocalhostByDefault) {
  const auto is_on_localhost = [](const std::string& command) {
    return Sample("{image: a, command: [" + command + "]}").server()->is_on_localhost;
  };
  EXPECT_FALSE(is_on_localhost("vllm, serve, m"));
  EXPECT_TRUE(is_on_localhost("vllm, serve, m, --host, 127.0.0.1"));
  EXPECT_TRUE(is_on_localhost("python3, -m, sglang.launch_server, --model-path, m"));
  EXPECT_TRUE(is_on_localhost("sglang, serve, --model-path, m"));
  EXPECT_FALSE(is_on_localhost("python3, -m, sglang.launch_server, --model-path, m, --host, 0.0.0.0"));
  EXPECT_FALSE(is_on_localhost("python3, -m, sglang.launch_server, --model-path, m, --host=0.0.0.0"));
}

TEST(EngineServer, AFlagOrAVariableMayOpenAnotherPort) {
  const auto is_only_server = [](const std::string& flags, const std::string& fields = "") {
    return Sample("{image: a, command: [vllm, serve, m" + flags + "]" + fields + "}").server()->is_only_server;
  };
  EXPECT_TRUE(is_only_server(", --port, '9000', --max-model-len, '8192'"));
  EXPECT_FALSE(is_only_server(", --kv-transfer-config, x"));
  EXPECT_FALSE(is_only_server(", --data-parallel-size, '2'"));
  EXPECT_FALSE(is_only_server("", ", env: [{name: VLLM_NIXL_SIDE_CHANNEL_PORT, value: '5600'}]"));
}

TEST(EngineServer, AnotherContainerOfThePodMayListen) {
  const auto port = [](const std::string& spec) {
    const Sample sample("{" + spec + "}");
    const std::optional<EngineServer> server = only_server({.metadata = &Value::missing(), .spec = &sample.root()});
    return server ? server->port : 0;
  };
  const std::string engine = "{name: a, image: vllm/vllm-openai, args: [--model, m]}";
  EXPECT_EQ(port("containers: [" + engine + "]"), 8000);
  EXPECT_EQ(port("initContainers: [{name: b}], containers: [" + engine + "]"), 8000);
  EXPECT_EQ(port("initContainers: [{name: b, restartPolicy: Always}], containers: [" + engine + "]"), 0);
  EXPECT_EQ(port("containers: [" + engine + ", {name: proxy, image: envoy}]"), 0);
}

TEST(EngineServer, APortHasANumberOrTheNameOfAPortOfTheContainer) {
  const Sample sample("{image: a, ports: [{name: http, containerPort: 8000}], x: http, y: 81, z: other}");
  EXPECT_EQ(port_number(sample.root(), sample.root()["x"]), 8000);
  EXPECT_EQ(port_number(sample.root(), sample.root()["y"]), 81);
  EXPECT_EQ(port_number(sample.root(), sample.root()["z"]), std::nullopt);
  EXPECT_EQ(port_number(sample.root(), sample.root()["missing"]), std::nullopt);
}

}  // namespace
}  // namespace capstan::lint::engine_server_test
