// Reads any bytes as a snapshot file. The decision from a valid file must fail no assertion, and its state must stay
// the same when it is written and read again.
#include <string_view>

#include "archive/redecide.h"
#include "archive/saved_state.h"
#include "check_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<archive::SavedState> state = archive::parse(text, "fuzz.json");
  if (!state) {
    fuzz::check_error(state.error());
    return 0;
  }
  (void)archive::redecide(*state);
  const std::string written = archive::to_json(*state);
  const Result<archive::SavedState> parsed_again = archive::parse(written, "again.json");
  CAPSTAN_ASSERT(parsed_again.has_value());
  CAPSTAN_ASSERT(archive::to_json(*parsed_again) == written);
  return 0;
}
