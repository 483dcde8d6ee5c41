#pragma once

#include <string_view>

namespace capstan::signals::fault {

// Error messages for a page. The reader and the simple reader of the tests (exposition_twin.h) use the same messages,
// so that tests can compare the two.
inline constexpr std::string_view kBodyTooLong = "the page is larger than the size limit, expected a smaller one";
inline constexpr std::string_view kLineTooLong = "the line is longer than the length limit, expected a shorter one";
inline constexpr std::string_view kLineStart = "expected a metric name, '{', '#' or an empty line";
inline constexpr std::string_view kOpenLineStart = "expected a metric name, '{' or \"# \"";
inline constexpr std::string_view kNoName =
    "no metric name, expected one before the braces or a quoted one inside them";
inline constexpr std::string_view kSecondName = "a second metric name, expected label=\"value\"";
inline constexpr std::string_view kEmptyName = "an empty metric name, expected at least one character";
inline constexpr std::string_view kLabelName = "expected a label name or '}'";
inline constexpr std::string_view kEqual = "expected '=' after the label name";
inline constexpr std::string_view kLabelValue = "expected a label value in double quotes";
inline constexpr std::string_view kQuoteOpen = "the line ends inside double quotes, expected '\"'";
inline constexpr std::string_view kLabelEnd = "expected ',' or '}' after the label value";
inline constexpr std::string_view kSameLabel =
    "a label name that this sample already has, expected every label name once";
inline constexpr std::string_view kManyLabels = "too many labels, expected at most 64";
inline constexpr std::string_view kNotUtf8 = "invalid UTF-8, expected UTF-8 text";
inline constexpr std::string_view kSpace = "expected one space and a value";
inline constexpr std::string_view kValue = "not a value, expected a number such as 1, 2.5e3, NaN or +Inf";
inline constexpr std::string_view kTimestamp = "not a timestamp, expected whole milliseconds since 1970";
inline constexpr std::string_view kSeconds = "not a timestamp, expected seconds since 1970";
inline constexpr std::string_view kLineRest = "text after the sample, expected the end of the line";
inline constexpr std::string_view kComment = "expected HELP, TYPE, UNIT or EOF after \"# \"";
inline constexpr std::string_view kFamilyName = "expected the name of a metric family";
inline constexpr std::string_view kFamilyText = "expected a space and a text after the name";
inline constexpr std::string_view kType = "not a type of this format, expected one such as counter, gauge or histogram";
inline constexpr std::string_view kUnit = "the family's name does not end with this unit, expected name_unit";
inline constexpr std::string_view kNoEof = "the page ends without \"# EOF\", expected it as the last line";
inline constexpr std::string_view kAfterEof = "text after \"# EOF\", expected the end of the page";

}  // namespace capstan::signals::fault
