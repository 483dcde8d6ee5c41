#include "kube/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace capstan::kube {
namespace {

ExecConfig shell(std::string script) {
  return {.api_version = "client.authentication.k8s.io/v1",
          .command = "sh",
          .args = {"-c", std::move(script)},
          .env = {{"GREETING", "good day"}},
          .provide_cluster_info = false,
          .install_hint = {}};
}

/// Waits for the end of the child; the system call `poll` sleeps 1 ms.
Result<std::string> run(ChildProcess& child, const ExecConfig& config, const std::string& info) {
  if (const Result<void> started = child.start(config, info); !started) return std::unexpected(started.error());
  for (int i = 0; i < 10'000; ++i) {
    if (std::optional<Result<std::string>> output = child.poll()) return *output;
    poll(nullptr, 0, 1);
  }
  return "still running";
}

TEST(ChildProcess, ReturnsStandardOutput) {
  ChildProcess child;
  EXPECT_EQ(run(child, shell("echo \"$GREETING $KUBERNETES_EXEC_INFO\"; cat"), "{}"), "good day {}\n");
  EXPECT_EQ(run(child, shell("printf again"), ""), "again");
}

TEST(ChildProcess, FailuresAreErrors) {
  ChildProcess child;
  EXPECT_EQ(run(child, shell("exit 3"), "").error().text(), "exec plugin sh: ended with status 3");
  EXPECT_EQ(run(child, shell("kill -9 $$"), "").error().text(), "exec plugin sh: ended by signal 9");
  EXPECT_EQ(run(child, shell("yes"), "").error().text(), "exec plugin sh: wrote more than 1 MiB to standard output");
  ExecConfig missing = shell("");
  missing.command = "no-such-program-anywhere";
  missing.install_hint = "see the manual";
  EXPECT_EQ(run(child, missing, "").error().text(),
            "exec plugin no-such-program-anywhere: cannot be started: No such file or directory; see the manual");
}

TEST(ChildProcess, StopKillsTheChild) {
  ChildProcess child;
  ASSERT_TRUE(child.start(shell("while :; do :; done"), ""));
  EXPECT_FALSE(child.poll().has_value());
  child.stop();
  EXPECT_TRUE(child.poll().has_value());
}

}  // namespace
}  // namespace capstan::kube
