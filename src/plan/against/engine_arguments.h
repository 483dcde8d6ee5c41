#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/yaml.h"
#include "plan/objects/yaml.h"

// The command line of an engine, in any of the forms in which a container states it.
namespace capstan::plan {

/// An option of a command line: "--port=8000", "--port 8000" or "-tp 2".
struct EngineOption {
  std::string flag{};                     ///< long form with dashes: "--tensor-parallel-size"
  std::string value{};                    ///< empty for a flag without a value
  const manifest::Node* place = nullptr;  ///< element with the value, or the script with the whole command line
  std::string text{};                     ///< as it is written in that element: "--port=8000" or "8000"
};

/// Returns the options of `command` and `args` of a container, and the model that is named without a flag as `--model`.
std::vector<EngineOption> engine_options(const manifest::Node& container);

/// A value of a command line that the plan states differently.
struct ArgumentChange {
  std::string flag{};
  const manifest::Node* place = nullptr;  ///< element to change; null: the flag is absent
  std::string found{};                    ///< text of the element
  std::string planned{};
  std::string why{};
  std::string caution{};
};

/// Returns the changes of an engine's command line. The port and the name under which clients know the model stay as
/// they are, so that the replicas answer at the same address.
/// @param planned  arguments of the plan, each with its flag: "--max-num-seqs=256"
std::vector<ArgumentChange> compare_arguments(const Yaml& planned, const manifest::Node& container);

/// Returns the port on which the engine of an existing container listens; empty: it states none.
std::string engine_port(const manifest::Node& container);

}  // namespace capstan::plan
