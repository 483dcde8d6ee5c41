// Parses any bytes as an expression. A valid expression can be written and parsed again with the same result.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "check_error.h"
#include "promql/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<promql::ExpressionPtr> parsed = promql::parse(text);
  if (!parsed) {
    fuzz::check_error(parsed.error());
    CAPSTAN_ASSERT(parsed.error().line >= 1 && parsed.error().column >= 1);
    return 0;
  }
  promql::walk(**parsed, [&](const promql::Expression& part) {
    CAPSTAN_ASSERT(part.span.begin.offset < part.span.end_offset && part.span.end_offset <= size);
  });
  const std::string written = promql::to_text(**parsed);
  const Result<promql::ExpressionPtr> parsed_again =
      promql::parse(written, "again", {.bytes = 16u << 20, .depth = 1000});
  CAPSTAN_ASSERT(parsed_again.has_value() && promql::to_text(**parsed_again) == written);
  return 0;
}
