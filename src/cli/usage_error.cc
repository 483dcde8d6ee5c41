#include "cli/usage_error.h"

#include <optional>
#include <string_view>

#include "manifest/fields.h"

namespace capstan::cli {
namespace {

std::vector<std::string_view> views(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

/// The parts of a text before and after a separator.
struct Parts {
  std::string_view before, after;
};

std::optional<Parts> split(std::string_view text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  if (at == text.npos) return std::nullopt;
  return Parts{text.substr(0, at), text.substr(at + separator.size())};
}

/// Returns "text or json" for "text,json}".
std::string words_of_set(std::string_view set) {
  std::vector<std::string_view> words;
  set = set.substr(0, set.find('}'));
  while (const std::optional<Parts> parts = split(set, ",")) {
    words.push_back(parts->before);
    set = parts->after;
  }
  words.push_back(set);
  return manifest::one_of(words);
}

/// Returns a bound of a range without the zeros at its end: "1000000" for "1000000.000000".
std::string bound_text(std::string_view number) {
  if (number.find('.') == number.npos) return std::string(number);
  number = number.substr(0, number.find_last_not_of('0') + 1);
  return std::string(number.substr(0, number.find_last_not_of('.') + 1));
}

/// Returns the first command of the examples. Empty if the help has none.
std::string_view first_example(std::string_view footer) {
  const std::optional<Parts> example = split(footer, ":\n  ");
  return example && example->before.starts_with("Example") ? example->after.substr(0, example->after.find('\n'))
                                                           : std::string_view();
}

std::string missing_text(std::string_view name, const UsageFault& fault) {
  if (name == "A subcommand") return "no command is given, expected " + manifest::one_of(views(fault.commands));
  const std::string_view example = first_example(fault.footer);
  return std::string(name) + " is missing, expected " +
         (example.empty() ? "a value" : "a command such as `" + std::string(example) + "`");
}

std::string unexpected_text(std::string_view words, const UsageFault& fault) {
  // If one of the unexpected words is an option, the error names only the option. The other words may be its value.
  const std::size_t option = words.starts_with('-') ? 0 : words.find(" -") + 1;
  if (option == 0 && !words.starts_with('-')) return "found " + in_quotes(words) + ", expected no further argument";
  const std::string_view word = words.substr(option, words.find(' ', option) - option);
  const std::string found = "found " + in_quotes(word) + ", expected ";
  const std::string_view meant = manifest::did_you_mean(word, views(fault.options));
  return found + "an option that `" + fault.command + " --help` lists" +
         (meant.empty() ? "" : " (did you mean " + std::string(meant) + "?)");
}

/// Returns the text for a value that an option does not allow; nothing for other messages.
std::optional<std::string> value_text(std::string_view message) {
  const auto text = [](std::string_view option, std::string_view value, const std::string& expected) {
    return std::string(option) + ": found " + in_quotes(value) + ", expected " + expected;
  };
  if (const auto convert = split(message, "Could not convert: "); convert && convert->before.empty()) {
    if (const auto parts = split(convert->after, " = ")) return text(parts->before, parts->after, "a number");
  }
  const std::optional<Parts> option = split(message, ": ");
  if (!option) return std::nullopt;
  if (const auto set = split(option->after, " not in {")) {
    return text(option->before, set->before, words_of_set(set->after));
  }
  const std::optional<Parts> range = split(option->after, " not in range ");
  const std::optional<Parts> bounds = range ? split(range->after, " to ") : std::nullopt;
  if (!bounds || !range->before.starts_with("Value ")) return std::nullopt;
  return text(option->before, range->before.substr(std::string_view("Value ").size()),
              bound_text(bounds->before) + " to " + bound_text(bounds->after));
}

std::string usage_text(const UsageFault& fault) {
  const std::string_view message = fault.message;
  constexpr std::string_view kRequired = " is required";
  if (message.ends_with(kRequired)) return missing_text(message.substr(0, message.size() - kRequired.size()), fault);
  if (const auto extra = split(message, " not expected: ")) return unexpected_text(extra->after, fault);
  if (std::optional<std::string> value = value_text(message)) return *std::move(value);
  if (const auto pair = split(message, " excludes ")) {
    return std::string(pair->before) + " cannot be used together with " + std::string(pair->after);
  }
  return fault.message;
}

}  // namespace

Error usage_error(const UsageFault& fault) { return {ErrorKind::usage, fault.command, 0, 0, usage_text(fault)}; }

}  // namespace capstan::cli
