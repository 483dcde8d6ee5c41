#include "lint/container_start.h"

#include <gtest/gtest.h>

#include <memory>

namespace capstan::lint::container_start_test {
namespace {

/// The GPUs that a container's engine needs, and the text that states the number.
struct GpuNeed {
  std::optional<std::int64_t> gpus;
  std::string stated_in;
};

GpuNeed gpu_need(const std::string& yaml) {
  File file("a.yaml", yaml);
  file.documents = manifest::Documents::parse(file.text);
  const Value& container = file.documents.all()[0].root;
  const auto engine = engine_of(start_of(container));
  if (!engine) return {std::nullopt, "no engine"};
  const auto word = engine->flag({"--tensor-parallel-size", "-tp", "--tp", "--tp-size", "--num-shard"});
  const Span span = word ? span_of(file, container, *word) : Span{};
  return {wanted_gpus(*engine), file.text.substr(span.begin, span.size())};
}

TEST(ContainerStart, FindsTheGpusOfAnEngineInCommandsScriptsAndVariables) {
  struct Row {
    const char* yaml;
    std::int64_t gpus;
    const char* stated_in;
  };
  const Row rows[] = {
      {"command: [vllm, serve, m, --tensor-parallel-size, '4']\n", 4, "'4'"},
      {"command: [vllm, serve]\nargs: [m, --tensor-parallel-size=2, -pp, '2']\n", 4, "--tensor-parallel-size=2"},
      {"command: [sh, -c]\nargs:\n  - |\n    export X=1\n    vllm serve m \\\n      --tensor-parallel-size 8\n", 8,
       "8"},
      {"command: ['/bin/bash', '-c', 'python3 -m vllm.entrypoints.openai.api_server -tp 2 && true']\n", 2, "2"},
      {"image: vllm/vllm-openai:v0.9\nargs: ['--model', 'm', '--tensor-parallel-size', '$(TP)']\n"
       "env: [{name: TP, value: '4'}]\n",
       4, "'$(TP)'"},
      {"command: [python3, -m, sglang.launch_server, --tp, '8', --dp, '2', --enable-dp-attention]\n", 8, "'8'"},
      {"command: [python3, -m, sglang.launch_server, --tp, '4', --dp-size, '2']\n", 8, "'4'"},
      {"command: [vllm, serve, m, --tensor_parallel_size=8, --pipeline_parallel_size, '2']\n", 16,
       "--tensor_parallel_size=8"},
      {"command: [sh, -c, 'vllm serve $(MODEL) --tensor-parallel-size 2']\n", 2, "2"},
      {"image: ghcr.io/huggingface/text-generation-inference:1.4.3\nenv: [{name: NUM_SHARD, value: '4'}]\n", 4, "'4'"},
      {"image: ghcr.io/huggingface/text-generation-inference:1.4.3\nargs: [--num-shard, '2']\nenv: [{name: NUM_SHARD, "
       "value: '4'}]\n",
       2, "'2'"},
      {"image: vllm/vllm-openai\ncommand: []\nargs: [-tp, '4']\n", 4, "'4'"},  // the image's own command
      {"image: vllm/vllm-openai\nargs:\n- --tensor-parallel-size 4\n", 4, "--tensor-parallel-size 4"},
      {"command: [vllm, serve, m, -tp, '2', --data-parallel-size, '4']\n", 8, "'2'"},
  };
  for (const Row& row : rows) {
    const GpuNeed found = gpu_need(row.yaml);
    EXPECT_EQ(found.gpus, row.gpus) << row.yaml;
    EXPECT_EQ(found.stated_in, row.stated_in) << row.yaml;
  }
}

TEST(ContainerStart, ParallelismIsOneWithoutAFlag) {
  for (const char* command : {"vllm, serve, m", "vllm, serve, $(MODEL)", "vllm, serve, --model, $MODEL, --port, '80'",
                              "python3, -m, sglang.launch_server, --model-path, m", "trtllm-serve, m"}) {
    EXPECT_EQ(gpu_need("command: [" + std::string(command) + "]\n").gpus, 1) << command;
  }
  EXPECT_EQ(gpu_need("command: [vllm, serve, m, -pp, '2']\n").gpus, 2);
  EXPECT_EQ(gpu_need("command: [vllm, serve, m, -tp, '2', --prefill-context-parallel-size, '2']\n").gpus, 4);
}

TEST(ContainerStart, AnUnknownNumberIsNotGuessed) {
  EXPECT_FALSE(gpu_need("command: [vllm, serve, m, $VLLM_ARGS]\n").gpus);
  EXPECT_FALSE(gpu_need("command: [vllm, serve, m, --trust-remote-code, $EXTRA_FLAGS]\n").gpus);
  EXPECT_FALSE(gpu_need("command: [sh, -c, 'vllm serve m \"$@\"']\n").gpus);
  EXPECT_FALSE(gpu_need("command: [vllm, serve, m, --config, /etc/vllm.yaml]\n").gpus);
  EXPECT_FALSE(gpu_need("command: [trtllm-serve, m, --extra_llm_api_options, /etc/trt.yaml]\n").gpus);
  EXPECT_FALSE(gpu_need("command: [text-generation-launcher, --model-id, m]\n").gpus) << "it uses all visible GPUs";
  EXPECT_FALSE(gpu_need("command: [vllm, serve, m, --tensor-parallel-size, $TP]\n").gpus);
  EXPECT_FALSE(gpu_need("command: [vllm, serve, m, --tensor-parallel-size]\n").gpus);
  EXPECT_EQ(gpu_need("command: [nginx]\n").stated_in, "no engine");
  EXPECT_EQ(gpu_need("image: vllm/vllm-openai\ncommand: [/start.sh]\n").stated_in, "no engine");
}

TEST(ContainerStart, CountsEnginesAndDetectsThoseThatSpanPods) {
  const auto parsed = [](const std::string& command) {
    auto file = std::make_unique<File>("a.yaml", "command: [sh, -c, \"" + command + "\"]\n");
    file->documents = manifest::Documents::parse(file->text);
    return file;
  };
  const auto engines = [&](const std::string& command) {
    const auto file = parsed(command);
    return engines_in(start_of(file->documents.all()[0].root));
  };
  EXPECT_EQ(engines("vllm serve a -tp 1 & vllm serve b -tp 1"), 2u);
  EXPECT_EQ(engines("vllm serve a; echo done"), 1u);
  EXPECT_EQ(engines("sleep 1; nginx"), 0u);
  const auto joins = [&](const std::string& command) {
    const auto file = parsed(command);
    return joins_other_pods(start_of(file->documents.all()[0].root));
  };
  EXPECT_TRUE(joins("ray start --head; vllm serve a -tp 16"));
  EXPECT_TRUE(joins("bash /x/multi-node-serving.sh leader; vllm serve a"));
  EXPECT_FALSE(joins("vllm serve x-ray --port 1"));
}

TEST(ContainerStart, ReadsTheSizeInTheNameOfAModel) {
  EXPECT_EQ(billions_of("Qwen/Qwen3-0.6B"), 0.6);
  EXPECT_EQ(billions_of("meta-llama/Llama-3.1-8B-Instruct"), 8);
  EXPECT_EQ(billions_of("facebook/opt-125m"), 0.125);
  EXPECT_EQ(billions_of("HuggingFaceTB/SmolLM2-135M-Instruct"), 0.135);
  EXPECT_EQ(billions_of("/models/qwen2_72b"), 72);
  EXPECT_DOUBLE_EQ(billions_of("mistralai/Mixtral-8x7B-v0.1").value_or(0), 44.8) << "47, of which experts share some";
  EXPECT_EQ(billions_of("Qwen/Qwen3-30B-A3B"), 30);
  for (const char* none : {"gpt2", "m", "", "deepseek-ai/DeepSeek-R1", "phi-3.5-mini", "yolo-8x"}) {
    EXPECT_FALSE(billions_of(none)) << none;
  }
}

TEST(ContainerStart, ReadsTheSizeOfTheWeightsInTheNameOfAModel) {
  const auto weights_of = [](const std::string& yaml) {
    File file("a.yaml", yaml);
    file.documents = manifest::Documents::parse(file.text);
    return weights_gb(file.documents.all()[0].root);
  };
  const auto weights = [&](const std::string& model) { return weights_of("command: [vllm, serve, " + model + "]\n"); };
  EXPECT_DOUBLE_EQ(
      weights_of("env: [{name: PORT, value: '80'}, {name: MODEL_ID, value: facebook/opt-125m}]\n").value_or(0), 0.25);
  EXPECT_FALSE(weights_of("env: [{name: MODEL_ID, valueFrom: {secretKeyRef: {name: a, key: b}}}]\n"));
  EXPECT_DOUBLE_EQ(weights("Qwen/Qwen2.5-7B-Instruct").value_or(0), 14);
  EXPECT_DOUBLE_EQ(weights("Qwen/Qwen2.5-7B-Instruct-AWQ").value_or(0), 4.2);
  EXPECT_DOUBLE_EQ(weights("google/gemma-2-2b-it").value_or(0), 4);
  EXPECT_DOUBLE_EQ(weights("neuralmagic/Meta-Llama-3.1-70B-Instruct-FP8").value_or(0), 70);
  EXPECT_DOUBLE_EQ(weights("Qwen/Qwen2.5-7B-Instruct, --quantization, awq").value_or(0), 4.2);
  EXPECT_DOUBLE_EQ(weights("microsoft/DialoGPT-small").value_or(0), 1);
  EXPECT_DOUBLE_EQ(weights("openai/whisper-large-v3").value_or(0), 3);
  EXPECT_FALSE(weights("mistralai/Mistral-Small-Instruct-2409")) << "it has 22 billion parameters";
  EXPECT_FALSE(weights("deepseek-ai/DeepSeek-R1"));
}

TEST(ContainerStart, AModelIsARepositoryOrLocal) {
  const auto is_local = [](const std::string& model) {
    File file("a.yaml", "command: [vllm, serve, " + model + "]\n");
    file.documents = manifest::Documents::parse(file.text);
    return names_local_model(file.documents.all()[0].root);
  };
  EXPECT_FALSE(is_local("Qwen/Qwen2.5-7B-Instruct"));
  EXPECT_TRUE(is_local("/models/Qwen2.5-7B"));
  EXPECT_TRUE(is_local("./qwen"));
  EXPECT_TRUE(is_local("qwen"));
}

}  // namespace
}  // namespace capstan::lint::container_start_test
