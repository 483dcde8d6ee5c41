#pragma once

namespace capstan::cli {

/// From now on the program ends with exit code 1 and one line on standard error when memory runs out, whichever thread
/// asked for it: an exception could end another thread, or a function that may not throw, by an abort.
void end_when_out_of_memory();

}  // namespace capstan::cli
