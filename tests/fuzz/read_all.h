#pragma once

// Reads a trace to its end as a simulation does, and checks that every request keeps the contract of `Source`.

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "check_error.h"
#include "workload/byte_stream.h"
#include "workload/trace.h"

namespace capstan::fuzz {

/// Checks that the error is about the input, not about Capstan or the command line.
inline void check_input_error(const Error& error) {
  check_error(error);
  CAPSTAN_ASSERT(error.kind == ErrorKind::input);
}

inline void read_all(std::string_view bytes) {
  Result<std::unique_ptr<workload::ByteStream>> stream = workload::open_bytes_in_memory(bytes, "trace");
  if (!stream) return check_input_error(stream.error());
  Result<std::unique_ptr<workload::Source>> source = workload::open_trace(std::move(*stream));
  if (!source) return check_input_error(source.error());
  std::vector<workload::Request> batch(16);
  Instant last;
  for (std::size_t count = batch.size(); count == batch.size();) {
    count = (*source)->fill(batch);
    for (std::size_t i = 0; i < count; ++i) {
      const workload::Request& request = batch[i];
      CAPSTAN_ASSERT(request.arrival >= last);
      CAPSTAN_ASSERT(request.input_tokens >= 1 && request.input_tokens <= workload::kMaxTokens);
      CAPSTAN_ASSERT(request.output_tokens >= 1 && request.output_tokens <= workload::kMaxTokens);
      CAPSTAN_ASSERT(request.prefix_hashes.size() * workload::kPrefixBlockTokens <
                     static_cast<std::size_t>(request.input_tokens) + workload::kPrefixBlockTokens);
      last = request.arrival;
    }
  }
  if (const std::optional<Error> error = (*source)->error()) check_input_error(*error);
}

}  // namespace capstan::fuzz
