#pragma once

namespace capstan::cli {

/// Makes the program end with exit code 1 and one line on standard error if memory runs out in any thread. An exception
/// would abort the program if it left a thread or a function that may not throw.
void end_when_out_of_memory();

}  // namespace capstan::cli
