#include "lint/container_start.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <vector>

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

/// Returns the values that hold the words of the command line. `CommandWord::source` is an index into them.
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

std::optional<double> billions_of(std::string_view model) {
  for (std::size_t i = 0; i < model.size(); ++i) {
    const bool starts = i == 0 || model[i - 1] == '-' || model[i - 1] == '_' || model[i - 1] == '/';
    if (!starts || model[i] < '0' || model[i] > '9') continue;
    double size = 0;
    const auto [end, error] = std::from_chars(model.data() + i, model.data() + model.size(), size);
    const std::string_view rest(end, static_cast<std::size_t>(model.data() + model.size() - end));
    if (error != std::errc() || rest.empty()) continue;
    const bool ends = rest.size() == 1 || rest[1] == '-' || rest[1] == '_' || rest[1] == '.';
    if (ends && (rest[0] == 'b' || rest[0] == 'B')) return size;
    if (ends && (rest[0] == 'm' || rest[0] == 'M')) return size / 1000;
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

}  // namespace

bool serves_small_model(const EngineCommand& engine) {
  constexpr double kSmallBillions = 2;
  const auto size = billions_of(model_of(engine));
  return size && *size < kSmallBillions;
}

std::optional<double> weights_gb(const Value& container) {
  constexpr double kGbPerBillion = 2;          // 16 bits per parameter
  constexpr double kGbPerBillionOf4Bit = 0.6;  // 4 bits and the scales
  const manifest::ContainerStart start = start_of(container);
  const auto engine = engine_of(start);
  std::string model = engine ? model_of(*engine) : "";
  for (const auto& variable : start.environment) {
    const bool names_a_model = has_any(variable.name, {"MODEL", "model"}) && variable.value;
    if (model.empty() && names_a_model && billions_of(*variable.value)) model = *variable.value;
  }
  const auto size = billions_of(model);
  if (!size) return std::nullopt;
  const bool has_4_bits = has_any(model, {"AWQ", "awq", "GPTQ", "gptq", "4bit", "Int4", "INT4", "w4a16"});
  return *size * (has_4_bits ? kGbPerBillionOf4Bit : kGbPerBillion);
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
  const Value& value = *sources_of(container).at(word.source);
  return word.size == CommandWord::kWhole ? value.span : part_of(file, value, word.offset, word.size);
}

}  // namespace capstan::lint
