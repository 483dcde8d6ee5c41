// Reads any bytes as a workload profile and, if it is valid, generates its first thousand requests.
#include "read_all.h"
#include "workload/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  Result<std::unique_ptr<workload::ByteStream>> stream =
      workload::open_bytes_in_memory({reinterpret_cast<const char*>(data), size}, "profile");
  if (!stream) return 0;
  Result<workload::Profile> profile = workload::read_profile(std::move(*stream));
  if (!profile) {
    fuzz::check_input_error(profile.error());
    return 0;
  }
  // The source draws all requests of a minute at once. The scale of 0.1 % keeps a minute of a billion requests small.
  workload::ProfileSource source(std::move(*profile), 1'000, 1);
  workload::Request request;
  for (int i = 0; i < 1000 && source.next(request); ++i) {
    CAPSTAN_ASSERT(request.input_tokens >= 1 && request.output_tokens >= 1);
  }
  return 0;
}
