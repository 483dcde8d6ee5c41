#pragma once

namespace capstan::lint {

// The tables of data/lint, compiled in by facts.cmake.
extern const char* const kGpuFamiliesCsv;
extern const char* const kRemovedApisCsv;
extern const char* const kRemovedMetricsCsv;
extern const char* const kMetricsCsv;
extern const char* const kMigCsv;
extern const char* const kVersionsCsv;
extern const char* const kPodShapesCsv;
extern const char* const kRemovedFlagsCsv;
extern const char* const kPriorityClassesCsv;
extern const char* const kApiGroupsCsv;
extern const char* const kKubernetesFieldsCsv;

}  // namespace capstan::lint
