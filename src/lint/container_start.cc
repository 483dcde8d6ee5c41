#include "lint/container_start.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/ascii.h"

namespace capstan::lint {
namespace {

/// Returns the scalar items of a list.
std::vector<const Value*> words_of(const Value& list) {
  std::vector<const Value*> out;
  for (const Value& value : list.children()) {
    if (value.is_scalar()) out.push_back(&value);
  }
  return out;
}

std::vector<std::string_view> texts_of(const Value& list) {
  std::vector<std::string_view> out;
  for (const Value* word : words_of(list)) out.push_back(word->text);
  return out;
}

/// Returns the values from which the command line comes: the words of `command` and `args`, then the values of `env`.
/// `CommandWord::source` is an index into them.
std::vector<const Value*> sources_of(const Value& container) {
  std::vector<const Value*> out = words_of(container["command"]);
  std::ranges::copy(words_of(container["args"]), std::back_inserter(out));
  for (const Value& variable : container["env"].children()) out.push_back(&variable["value"]);
  return out;
}

}  // namespace

manifest::ContainerStart start_of(const Value& container) {
  manifest::ContainerStart start{
      container["image"].text, texts_of(container["command"]), texts_of(container["args"]), {}};
  for (const Value& variable : container["env"].children()) {
    const Value& value = variable["value"];
    start.environment.push_back({variable["name"].text, std::nullopt});
    if (value.is_scalar()) start.environment.back().value = value.text;
  }
  return start;
}

namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

}  // namespace

bool runs_engine(const Value& container) {
  if (engine_of(start_of(container))) return true;
  return has_any(container["image"].text,
                 {"vllm", "sglang", "text-generation-inference", "tritonserver", "tensorrt-llm", "tensorrtllm",
                  "lmdeploy", "nvcr.io/nim/", "huggingfaceserver", "djl-serving", "llm-d"});
}

bool runs_language_engine(const Value& container) {
  const std::string_view image = container["image"].text;
  if (engine_of(start_of(container))) return true;
  return runs_engine(container) && (!has_any(image, {"triton"}) || has_any(image, {"trtllm", "vllm"}));
}

namespace {

/// Returns the number at the start of a text and removes it from the text.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<double> billions_of(std::string_view model) {
  constexpr double kUnsharedShare =
      0.8;  // "8x7B" has fewer parameters than 8 times 7B, because its experts share layers
  for (std::size_t i = 0; i < model.size(); ++i) {
    const bool starts = i == 0 || model[i - 1] == '-' || model[i - 1] == '_' || model[i - 1] == '/';
    std::string_view rest = model.substr(i);
    std::optional<double> size = starts ? take_number(rest) : std::nullopt;
    if (size && rest.starts_with('x')) {
      rest.remove_prefix(1);
      const std::optional<double> expert = take_number(rest);
      size = expert ? std::optional(*size * *expert * kUnsharedShare) : std::nullopt;
    }
    if (!size || rest.empty()) continue;
    const bool ends = rest.size() == 1 || rest[1] == '-' || rest[1] == '_' || rest[1] == '.';
    if (ends && (rest[0] == 'b' || rest[0] == 'B')) return size;
    if (ends && (rest[0] == 'm' || rest[0] == 'M')) return *size / 1000;
  }
  return std::nullopt;
}

namespace {

/// Returns the name of the engine's model; empty if the command line has none.
std::string model_of(const EngineCommand& engine) {
  const auto flag = engine.flag({"--model", "--model-path", "--model-id"});
  if (flag) return flag->text;
  return engine.words.empty() ? "" : engine.words.front().text;
}

/// Returns an upper bound of the number of parameters, in billions, of a model whose name shows its size only in words:
/// "DialoGPT-small", "bge-m3".
std::optional<double> billions_of_word(std::string_view model) {
  std::string name(model);
  std::ranges::transform(name, name.begin(), ascii_lower);
  if (has_any(name, {"mistral", "phi-", "nvembed", "nv-embed", "sfr-embed", "gte-qwen"})) return std::nullopt;
  if (has_any(name, {"small", "tiny", "minilm", "distil", "gpt2", "bert", "bge-", "e5-", "embed", "rerank", "smollm"}))
    return 0.5;
  return has_any(name, {"whisper", "clip-"}) ? std::optional(1.5) : std::nullopt;
}

}  // namespace

bool serves_small_model(const EngineCommand& engine) {
  constexpr double kSmallBillions = 2;
  const std::string model = model_of(engine);
  const auto size = billions_of(model);
  return size ? *size < kSmallBillions : billions_of_word(model).has_value();
}

std::string model_name(const Value& container) {
  const manifest::ContainerStart start = start_of(container);
  const auto engine = engine_of(start);
  std::string model = engine ? model_of(*engine) : "";
  for (const auto& variable : start.environment) {
    const bool names_a_model = has_any(variable.name, {"MODEL", "model"}) && variable.value;
    if (model.empty() && names_a_model && (billions_of(*variable.value) || billions_of_word(*variable.value)))
      model = *variable.value;
  }
  return model;
}

bool names_local_model(const Value& container) {
  const std::string model = model_name(container);
  return model.empty() || model.starts_with('/') || model.starts_with('.') || model.find('/') == model.npos;
}

double gb_per_billion(const Value& container) {
  constexpr double kOf16Bit = 2;
  constexpr double kOf8Bit = 1;
  constexpr double kOf4Bit = 0.6;  // 4 bits and the scales
  std::string name = model_name(container);
  const auto engine = engine_of(start_of(container));
  const auto quantization = engine ? engine->flag({"--quantization", "-q", "--quantize"}) : std::nullopt;
  if (quantization) name += "-" + quantization->text;
  std::ranges::transform(name, name.begin(), ascii_lower);
  if (has_any(name, {"awq", "gptq", "4bit", "4-bit", "int4", "w4a16", "fp4", "nf4", "bnb", "bitsandbytes", "gpt-oss",
                     "gguf", "q4_", "quantized"}))
    return kOf4Bit;
  return has_any(name, {"fp8", "int8", "8bit", "8-bit", "w8a", "q8_"}) ? kOf8Bit : kOf16Bit;
}

std::optional<double> weights_gb(const Value& container) {
  const std::string model = model_name(container);
  const auto stated = billions_of(model);
  const auto size = stated ? stated : billions_of_word(model);
  if (!size) return std::nullopt;
  return *size * gb_per_billion(container);
}

bool is_download(const std::vector<CommandWord>& command) {
  std::string text;
  for (const CommandWord& word : command) text += word.text + " ";
  return has_any(text, {"aws s3 cp ", "aws s3 sync ", "gsutil ", "gcloud storage cp ", "huggingface-cli download ",
                        "hf download ", "azcopy copy ", "snapshot_download", "s5cmd ", "rclone copy ", "mc cp ",
                        "mc mirror ", "modelscope download "});
}

bool brings_a_model(const Value& container) {
  if (has_any(container["image"].text, {"storage-initializer", "downloader", "model-loader", "model-puller"}))
    return true;
  if (has_any(container["name"].text, {"download", "model-loader", "fetch-model", "pull-model", "storage-initializer"}))
    return true;
  const auto commands = commands_of(start_of(container));
  return std::ranges::any_of(commands, [](const auto& command) { return is_download(command); });
}

Span span_of(const File& file, const Value& container, const CommandWord& word) {
  const std::vector<const Value*> sources = sources_of(container);
  if (word.source >= sources.size()) return container.span;  // a word of another container
  const Value& value = *sources[word.source];
  return word.size == CommandWord::kWhole ? value.span : part_of(file, value, word.offset, word.size);
}

}  // namespace capstan::lint
