#pragma once

namespace capstan::lint {

// The definitions in deploy/crds, which are compiled into the program.
extern const char* const kFleetPolicyDefinition;
extern const char* const kInferenceScalerDefinition;
extern const char* const kQueueDefinition;

}  // namespace capstan::lint
