#pragma once

// The engine that the emulator's tests emulate.

#include "engine/step_model.h"
#include "engine/table.h"

namespace capstan::emulator {

inline const engine::StepModel& small_model() {
  static const engine::StepModel model(
      (*engine::EngineTable::bundled().find("Llama-3.1-8B", "H100", 1, "bf16"))->coefficients);
  return model;
}

}  // namespace capstan::emulator
