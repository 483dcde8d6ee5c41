#include "cli/usage_error.h"

#include <gtest/gtest.h>

namespace capstan::cli {
namespace {

TEST(UsageError, SaysWhereWhatWasFoundAndWhatIsExpected) {
  const struct {
    const char* message;
    const char* text;
  } rows[] = {
      {"--output: xml not in {text,json}", "capstan sim: --output: found \"xml\", expected text or json"},
      {"--jobs: Value -2 not in range 0 to 1024", "capstan sim: --jobs: found \"-2\", expected 0 to 1024"},
      {"--rate: Value x not in range 0.500000 to 10000000.000000",
       "capstan sim: --rate: found \"x\", expected 0.5 to 10000000"},
      {"Could not convert: --jobs = two", "capstan sim: --jobs: found \"two\", expected a number"},
      {"scenario is required",
       "capstan sim: scenario is missing, expected a command such as `capstan sim a.yaml --seed 7`"},
      {"A subcommand is required", "capstan sim: no command is given, expected one or two"},
      {"The following argument was not expected: --sed",
       "capstan sim: found \"--sed\", expected an option that `capstan sim --help` lists (did you mean --seed?)"},
      {"The following arguments were not expected: b c", "capstan sim: found \"b c\", expected no further argument"},
      {"The following arguments were not expected: 2 --sede",
       "capstan sim: found \"--sede\", expected an option that `capstan sim --help` lists (did you mean --seed?)"},
      {"The following arguments were not expected: --sede 2",
       "capstan sim: found \"--sede\", expected an option that `capstan sim --help` lists (did you mean --seed?)"},
      {"--ca-file excludes --insecure", "capstan sim: --ca-file cannot be used together with --insecure"},
      {"--at requires --scenario", "capstan sim: --at requires --scenario"},
      {"--seed: 'x' is not a seed, expected 0 to 9", "capstan sim: --seed: 'x' is not a seed, expected 0 to 9"},
  };
  for (const auto& row : rows) {
    const Error error = usage_error({.message = row.message,
                                     .command = "capstan sim",
                                     .commands = {"one", "two"},
                                     .options = {"--seed", "--output"},
                                     .footer = "Examples:\n  capstan sim a.yaml --seed 7\n  capstan sim b.yaml"});
    EXPECT_EQ(error.text(), row.text);
    EXPECT_EQ(error.kind, ErrorKind::usage);
  }
}

TEST(UsageError, ACommandWithoutExamplesNamesWhatIsMissing) {
  const Error error = usage_error({.message = "SPEC.yaml is required", .command = "capstan plan"});
  EXPECT_EQ(error.text(), "capstan plan: SPEC.yaml is missing, expected a value");
}

}  // namespace
}  // namespace capstan::cli
