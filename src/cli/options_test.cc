#include "cli/options.h"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace capstan::cli::options_test {
namespace {

const std::vector<std::string> kWords = {"text", "markdown", "round_robin"};

/// Returns the word that a command takes for `--how WORD`, or "refused".
std::string taken(const std::string& word) {
  CLI::App app;
  std::string taken = "none";
  add_word(app, "--how", kWords, [&](const std::string& found) { taken = found; }, "How");
  try {
    app.parse("--how " + word);
  } catch (const CLI::ParseError&) {
    return "refused";
  }
  return taken;
}

TEST(Options, AWordInAnyCaseIsTakenAsInTheList) {
  for (const std::string& word : kWords) {
    std::string upper = word;
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    EXPECT_EQ(taken(word), word);
    EXPECT_EQ(taken(upper), word);
  }
  EXPECT_EQ(taken("Markdown"), "markdown");
  EXPECT_EQ(taken("json"), "refused");
  EXPECT_EQ(taken("texts"), "refused");
}

TEST(Options, OutputIsJsonInAnyCase) {
  for (const auto& [word, expected] :
       {std::pair{"json", Output::json}, std::pair{"JSON", Output::json}, std::pair{"Text", Output::text}}) {
    CLI::App app;
    Output output = expected == Output::json ? Output::text : Output::json;
    add_output(app, output);
    app.parse(std::string("-o ") + word);
    EXPECT_EQ(output, expected) << word;
  }
}

}  // namespace
}  // namespace capstan::cli::options_test
