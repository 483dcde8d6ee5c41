#include "manifest/fyaml_reader.h"

#include <libfyaml.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "manifest/quoted_text.h"

namespace capstan::manifest {
namespace {

struct Destroy {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};

Style style_of(fy_token* token) {
  switch (fy_token_scalar_style(token)) {
    case FYSS_SINGLE_QUOTED:
      return Style::single_quoted;
    case FYSS_DOUBLE_QUOTED:
      return Style::double_quoted;
    case FYSS_LITERAL:
      return Style::literal;
    case FYSS_FOLDED:
      return Style::folded;
    default:
      return Style::plain;
  }
}

class FyamlReader {
 public:
  FyamlReader(std::uint32_t base, DocumentBuilder& builder) : text_(builder.text()), base_(base), builder_(builder) {}

  void run(std::string_view text) {
    fy_diag_cfg diag_config{};
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = nullptr;
    diag_config.output_fn = [](fy_diag*, void*, const char*, std::size_t) {};
    diag_config.colorize = false;
    const std::unique_ptr<fy_diag, Destroy> diag(fy_diag_create(&diag_config));
    fy_diag_set_collect_errors(diag.get(), true);
    fy_parse_cfg config{};
    config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_ALLOW_DUPLICATE_KEYS |
                                                   FYPCF_SLOPPY_FLOW_INDENTATION | FYPCF_JSON_NONE);
    config.diag = diag.get();
    const std::unique_ptr<fy_parser, Destroy> parser(fy_parser_create(&config));
    if (!parser || fy_parser_set_string(parser.get(), text.data(), text.size()) != 0) {
      return builder_.fail({base_, base_}, "cannot be read: it is not YAML, or memory ran out");
    }
    while (fy_event* event = fy_parser_parse(parser.get())) {
      const bool last = event->type == FYET_STREAM_END;
      take(event);
      fy_parser_event_free(parser.get(), event);
      if (builder_.failed() || last) break;
    }
    if (!builder_.failed() && fy_diag_got_error(diag.get())) syntax_error(text, diag.get());
  }

 private:
  void take(fy_event* event) {
    switch (event->type) {
      case FYET_SCALAR:
        return scalar(event);
      case FYET_ALIAS:
        return builder_.alias(span_of(event), text_of(event->alias.anchor));
      case FYET_MAPPING_START:
        return open(event, Form::mapping, text_of(event->mapping_start.anchor));
      case FYET_SEQUENCE_START:
        return open(event, Form::sequence, text_of(event->sequence_start.anchor));
      case FYET_MAPPING_END:
      case FYET_SEQUENCE_END:
        return builder_.close(span_of(event).end);
      default:
        return;
    }
  }

  void open(fy_event* event, Form form, std::string_view anchor) {
    const Span span = span_of(event);
    const bool flow = span.size() > 0 && std::strchr("[{", text_[span.begin]) != nullptr;
    builder_.open(form, flow ? Style::flow : Style::block, span, anchor);
  }

  void scalar(fy_event* event) {
    Value value;
    value.form = Form::scalar;
    const std::uint32_t before = last_end_;
    value.span = span_of(event);
    if (event->scalar.value != nullptr) {
      value.style = style_of(event->scalar.value);
      value.text = text_of(event->scalar.value);
    }
    if (value.is_block_scalar()) {
      take_header(value.span, before);
      if (value.text.empty()) end_with_line(value.span);
      trim(value.span);
    } else if (value.style != Style::plain) {
      take_quotes(value.span);
    }
    if (value.style == Style::single_quoted) read_single_quoted(value);
    if (event->scalar.tag != nullptr && value.style == Style::plain && text_of(event->scalar.tag).ends_with("!str")) {
      value.style = Style::double_quoted;
    }
    builder_.scalar(value, text_of(event->scalar.anchor));
  }

  /// Extends a span by its quotes, which libfyaml leaves out.
  void take_quotes(Span& span) const {
    const auto is_quote = [&](std::size_t at) { return text_[at] == '"' || text_[at] == '\''; };
    if (span.begin > 0 && is_quote(span.begin - 1)) --span.begin;
    if (span.end < text_.size() && is_quote(span.end)) ++span.end;
  }

  /// Decodes a single-quoted scalar that contains quotes. libfyaml 0.7.12 loses or changes its last characters.
  void read_single_quoted(Value& value) {
    const std::string_view written = text_.substr(value.span.begin, value.span.size());
    if (written.size() < 4 || written.find("''", 1) == written.npos) return;
    value.text = builder_.store(single_quoted_text(written.substr(1, written.size() - 2)));
  }

  /// Extends the span of a block scalar by its header `|` or `>`; libfyaml starts it at the first line.
  void take_header(Span& span, std::uint32_t before) const {
    const std::size_t at = text_.substr(0, span.begin).find_first_of("|>", before);
    if (at != text_.npos) span.begin = static_cast<std::uint32_t>(at);
  }

  /// Ends the span of an empty block scalar with the line of its header.
  void end_with_line(Span& span) const {
    span.end = clamp(std::min<std::size_t>(span.end, text_.find('\n', span.begin)) - base_);
  }

  /// Removes trailing blanks and line breaks from the span of a block scalar, which libfyaml includes.
  void trim(Span& span) const {
    while (span.end > span.begin && std::strchr(" \t\r\n", text_[span.end - 1]) != nullptr) --span.end;
  }

  void syntax_error(std::string_view text, fy_diag* diag) {
    void* cursor = nullptr;
    const fy_diag_error* found = fy_diag_errors_iterate(diag, &cursor);
    if (found == nullptr) return builder_.fail({base_, base_}, "cannot be read: it is not YAML, or memory ran out");
    const LineTable lines(text);
    const auto line = static_cast<std::uint32_t>(std::max(found->line, 1));
    const auto column = static_cast<std::uint32_t>(std::max(found->column, 1));
    const std::size_t at = std::min<std::size_t>(lines.offset_of_line(line) + column - 1, text.size());
    const auto offset = base_ + static_cast<std::uint32_t>(at);
    builder_.fail({offset, offset + (at < text.size() ? 1u : 0u)}, std::string("not YAML: ") + found->msg);
  }

  /// Returns the span of an event. An empty value has no marks; it gets the end of the token before it.
  Span span_of(fy_event* event) {
    const fy_mark* start = fy_event_start_mark(event);
    const fy_mark* end = fy_event_end_mark(event);
    if (start == nullptr || end == nullptr) return {last_end_, last_end_};
    const Span span{clamp(start->input_pos), clamp(std::max(start->input_pos, end->input_pos))};
    last_end_ = span.end;
    return span;
  }

  std::uint32_t clamp(std::size_t position) const {
    return static_cast<std::uint32_t>(std::min(base_ + position, text_.size()));
  }

  /// Returns a view of the source if it has the decoded text, else a stored copy.
  std::string_view text_of(fy_token* token) {
    if (token == nullptr) return {};
    std::size_t size = 0;
    const char* text = fy_token_get_text(token, &size);
    if (text == nullptr || size == 0) return {};
    if (text >= text_.data() && text + size <= text_.data() + text_.size()) return {text, size};
    return builder_.store(std::string(text, size));
  }

  const std::string_view text_;
  const std::uint32_t base_;
  std::uint32_t last_end_ = 0;
  DocumentBuilder& builder_;
};

}  // namespace

void read_with_libfyaml(std::string_view text, std::uint32_t base, DocumentBuilder& builder) {
  FyamlReader(base, builder).run(text);
}

}  // namespace capstan::manifest
