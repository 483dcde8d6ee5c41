#include "cli/out_of_memory.h"

#include <unistd.h>

#include <new>
#include <string_view>

#include "cli/commands.h"

namespace capstan::cli {
namespace {

/// Ends the program. `operator new` calls this when memory runs out, so it must not allocate.
[[noreturn]] void end_program() {
  constexpr std::string_view kWipe = "\r\x1b[K";  // clears a progress line
  constexpr std::string_view kLine =
      "capstan: out of memory, expected more memory, a smaller input or fewer jobs at once\n";
  const auto say = [](std::string_view text) { (void)!write(STDERR_FILENO, text.data(), text.size()); };
  if (isatty(STDERR_FILENO) != 0) say(kWipe);
  say(kLine);
  _exit(kError);
}

}  // namespace

void end_when_out_of_memory() { std::set_new_handler(end_program); }

}  // namespace capstan::cli
