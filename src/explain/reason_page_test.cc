#include "explain/reason_page.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "model/reason.h"

namespace capstan::explain::reason_page_test {
namespace {

TEST(ReasonPage, TroubleshootingIsWhatTheRowsSay) {
  const auto page = read_file(CAPSTAN_SOURCE_DIR "/docs/reference/troubleshooting.md", 1u << 20);
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(*page, troubleshooting_page()) << "run scripts/generate";
}

TEST(ReasonPage, EveryCodeHasASectionThatTheIndexLinksTo) {
  const std::string page = troubleshooting_page();
  for (std::size_t i = 0; i < model::reason_count(); ++i) {
    const std::string code(name(static_cast<model::ReasonCode>(i)));
    EXPECT_NE(page.find("\n### " + code + "\n\n> "), page.npos) << code;
    EXPECT_NE(page.find("[`" + code + "`](#" + code + ")"), page.npos) << code;
  }
}

TEST(ReasonPage, AnEntryFitsTheTerminal) {
  EXPECT_EQ(reason_entry(model::ReasonCode::queue_limit, 100),
            "queue_limit\n"
            "\n"
            "  Example: queue \"research\" holds 12 of its limit of 16 GPUs, and the gang needs 8 more\n"
            "\n"
            "The gang waits because its queue, or a queue above it, would exceed its limit. No node is bought for\n"
            "it.\n"
            "\n"
            "Numbers:\n"
            "  0  GPUs that the queue holds\n"
            "  1  GPUs that the gang needs\n"
            "  2  limit of the queue\n"
            "  3  id of the queue\n"
            "\n"
            "Usual causes: Other pods of the queue hold the GPUs.\n"
            "What to do: `kubectl get capq` shows limit, held and waiting GPUs. Raise `spec.gpus.limit` of the\n"
            "named Queue, stop pods that hold its GPUs, or move the pods to another queue (label\n"
            "`capstan.dev/queue`).\n");
}

}  // namespace
}  // namespace capstan::explain::reason_page_test
