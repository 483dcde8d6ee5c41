#include "cli/stop_signal.h"

#include <csignal>

namespace capstan::cli {
namespace {

volatile std::sig_atomic_t count = 0;

void on_signal(int) { count = count + 1; }

}  // namespace

void catch_stop_signals() {
  struct sigaction action{};
  action.sa_handler = on_signal;  // without SA_RESTART, so that a signal interrupts a wait
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int stop_signals() { return count; }

}  // namespace capstan::cli
