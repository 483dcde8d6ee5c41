#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "experiment/result.h"
#include "model/catalog.h"

// Numbers and sentences for people. Integer arithmetic only: the same text on every machine.
namespace capstan::experiment {

/// "19,366".
std::string grouped(std::int64_t number);
/// number / unit with one decimal, rounded half up: tenths(993'000, 10'000) is "99.3".
std::string tenths(std::int64_t number, std::int64_t unit);
/// "1 replica", "2 replicas".
std::string counted(std::int64_t number, const char* one, const char* many);
/// Microseconds as seconds with as many decimals as matter: "1.62 s", "14.8 s", "148 s".
std::string seconds(std::int64_t microseconds);
/// Microseconds as milliseconds: "48.2 ms".
std::string milliseconds(std::int64_t microseconds);
/// "43.90" from micro-USD, grouped.
std::string usd(std::int64_t micro_usd);
/// GPU time as hours with one decimal, grouped.
std::string gpu_hours(GpuNanoseconds time);
/// Karpenter's name: "on-demand", "spot" or "reserved".
std::string_view capacity_name(model::CapacityType type);
/// A duration in at most `parts` units: "58 min 22 s", "80 ms", "2 s".
std::string time_words(Duration duration, int parts = 2);
/// "00:17:20".
std::string clock(Instant at);
/// Paid minutes of GPUs that did no work of any request: idle, held, unallocated.
std::int64_t idle_gpu_minutes(const RunResult& result);

/// What a service's replicas are called where several variants serve together: "h100"; else nothing.
std::string variant_name(const model::Catalog& catalog, const model::Service& service);

/// A word as a shell reads it: bare, or in the quotes that it needs.
std::string shell_word(const std::string& word);

/// What the policy broke, "broke: 12 gangs partly placed, 340 requests cut by decisions", or nothing.
std::string broken_words(const RunResult& result);

}  // namespace capstan::experiment
