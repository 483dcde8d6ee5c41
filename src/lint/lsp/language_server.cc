#include "lint/lsp/language_server.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "lint/explain_rule.h"
#include "lint/fix.h"

namespace capstan::lint {

using Json = nlohmann::ordered_json;

/// A file that is open in the editor.
struct LanguageServer::OpenFile {
  Report report;
  std::string text;
  manifest::LineTable lines{""};
};

struct LanguageServer::Message {
  Json id;
  std::string method;
  Json params;

  /// Returns a string parameter of the message; empty if it is missing.
  std::string text(const char* pointer) const {
    const Json::json_pointer at(pointer);
    return params.contains(at) && params[at].is_string() ? params[at].get<std::string>() : std::string();
  }
  std::uint32_t number(const char* pointer) const {
    const Json::json_pointer at(pointer);
    return params.contains(at) && params[at].is_number_unsigned() ? params[at].get<std::uint32_t>() : 0;
  }
};

namespace {

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Returns the length in UTF-16 units, in which the protocol counts columns. Characters beyond U+FFFF have two units.
std::size_t utf16_units(std::string_view text) {
  std::size_t units = 0;
  for (const char c : text) {
    if ((c & 0xc0) == 0x80) continue;
    units += (static_cast<unsigned char>(c) >= 0xf0) ? 2 : 1;
  }
  return units;
}

Json position(const manifest::LineTable& lines, std::string_view text, std::uint32_t offset) {
  offset = std::min<std::uint32_t>(offset, static_cast<std::uint32_t>(text.size()));
  const std::uint32_t line = lines.at(offset).line;
  const std::uint32_t begin = lines.offset_of_line(line);
  return {{"line", line - 1}, {"character", utf16_units(text.substr(begin, offset - begin))}};
}

Json range(const manifest::LineTable& lines, std::string_view text, Span span) {
  return {{"start", position(lines, text, span.begin)}, {"end", position(lines, text, span.end)}};
}

int severity_number(Severity severity) {
  return severity == Severity::error ? 1 : severity == Severity::warning ? 2 : 3;
}

Json diagnostic(const Finding& finding, std::string_view text, const manifest::LineTable& lines) {
  return {{"range", range(lines, text, finding.span)},
          {"severity", severity_number(finding.severity)},
          {"code", finding.rule->id},
          {"source", "capstan"},
          {"message", finding.message}};
}

/// Returns the byte offset of a position of the protocol.
std::uint32_t offset_of(const manifest::LineTable& lines, std::uint32_t line, std::uint32_t character) {
  const std::string_view text = lines.line(line + 1);
  std::size_t at = 0;
  for (std::size_t units = 0; at < text.size() && units < character; ++units) {
    if (static_cast<unsigned char>(text[at]) >= 0xf0) ++units;
    ++at;
    while (at < text.size() && (text[at] & 0xc0) == 0x80) ++at;
  }
  return lines.offset_of_line(line + 1) + static_cast<std::uint32_t>(at);
}

std::string path_of(const std::string& uri) { return uri.starts_with("file://") ? uri.substr(7) : uri; }

Json capabilities() {
  return {
      {"capabilities",
       {{"textDocumentSync", 1}, {"hoverProvider", true}, {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}}}},
      {"serverInfo", {{"name", "capstan lint"}}}};
}

Json hover(const Report& report, std::uint32_t offset) {
  for (const Finding& finding : report.findings) {
    if (finding.span.begin > offset || offset > finding.span.end) continue;
    return {{"contents", {{"kind", "markdown"}, {"value", rule_page(*finding.rule)}}}};
  }
  return nullptr;
}

Json actions(const Report& report, std::string_view text, const manifest::LineTable& lines, const std::string& uri,
             Span asked) {
  Json out = Json::array();
  for (const Finding& finding : report.findings) {
    if (finding.span.end < asked.begin || asked.end < finding.span.begin || !can_be_fixed(finding)) continue;
    Json edits = Json::array();
    for (const Edit& edit : finding.fix.edits) {
      edits.push_back({{"range", range(lines, text, edit.span)}, {"newText", edit.text}});
    }
    std::string title = std::string(finding.rule->id) + ": " + std::string(finding.fix_text());
    if (!finding.fix.caution.empty()) title += ". Caution: " + finding.fix.caution;
    out.push_back({{"title", std::move(title)},
                   {"kind", "quickfix"},
                   {"isPreferred", finding.safety() == FixSafety::safe},
                   {"diagnostics", Json::array({diagnostic(finding, text, lines)})},
                   {"edit", {{"changes", {{uri, std::move(edits)}}}}}});
  }
  return out;
}

Json failure(int code, const char* message) { return {{"code", code}, {"message", message}}; }

}  // namespace

LanguageServer::LanguageServer(Options options) : options_(std::move(options)) {}
LanguageServer::~LanguageServer() = default;

std::vector<std::string> LanguageServer::take(std::string_view message) {
  std::vector<std::string> out;
  const Json json = Json::parse(message, nullptr, false);
  if (!json.is_object() || !json.contains("method") || !json["method"].is_string()) {
    if (json.is_discarded())
      out.push_back(dump({{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", failure(-32700, "the message is not JSON")}}));
    return out;
  }
  const Message taken{json.contains("id") ? json["id"] : Json(nullptr), json["method"].get<std::string>(),
                      json.contains("params") ? json["params"] : Json::object()};
  if (taken.id.is_null()) {
    notify(taken, out);
    return out;
  }
  if (taken.method == "shutdown") shut_down_ = true;
  out.push_back(answer(taken));
  return out;
}

void LanguageServer::notify(const Message& message, std::vector<std::string>& out) {
  const std::string uri = message.text("/textDocument/uri");
  if (message.method == "exit") {
    ended_ = true;
  } else if (message.method == "textDocument/didOpen") {
    open(uri, message.text("/textDocument/text"), out);
  } else if (message.method == "textDocument/didChange") {
    const Json::json_pointer changes("/contentChanges");
    if (!message.params.contains(changes) || !message.params[changes].is_array() || message.params[changes].empty())
      return;
    const Json& last = message.params[changes].back();
    if (last.is_object() && last.contains("text") && last["text"].is_string())
      open(uri, last["text"].get<std::string>(), out);
  } else if (message.method == "textDocument/didClose") {
    close(uri, out);
  }
}

void LanguageServer::open(const std::string& uri, std::string text, std::vector<std::string>& out) {
  auto opened = std::make_unique<OpenFile>();
  opened->text = text;
  opened->report = lint_texts({{path_of(uri), std::move(text), false}}, options_);
  opened->lines = manifest::LineTable(opened->text);
  Json diagnostics = Json::array();
  for (const Finding& finding : opened->report.findings)
    diagnostics.push_back(diagnostic(finding, opened->text, opened->lines));
  open_[uri] = std::move(opened);
  out.push_back(dump({{"jsonrpc", "2.0"},
                      {"method", "textDocument/publishDiagnostics"},
                      {"params", {{"uri", uri}, {"diagnostics", std::move(diagnostics)}}}}));
}

void LanguageServer::close(const std::string& uri, std::vector<std::string>& out) {
  open_.erase(uri);
  out.push_back(dump({{"jsonrpc", "2.0"},
                      {"method", "textDocument/publishDiagnostics"},
                      {"params", {{"uri", uri}, {"diagnostics", Json::array()}}}}));
}

std::string LanguageServer::answer(const Message& message) const {
  Json reply = {{"jsonrpc", "2.0"}, {"id", message.id}};
  const std::string uri = message.text("/textDocument/uri");
  const auto found = open_.find(uri);
  if (message.method == "initialize") {
    reply["result"] = capabilities();
  } else if (message.method == "shutdown") {
    reply["result"] = nullptr;
  } else if (message.method == "textDocument/hover") {
    reply["result"] = nullptr;
    if (found != open_.end()) {
      const std::uint32_t at =
          offset_of(found->second->lines, message.number("/position/line"), message.number("/position/character"));
      reply["result"] = hover(found->second->report, at);
    }
  } else if (message.method == "textDocument/codeAction") {
    reply["result"] = Json::array();
    if (found != open_.end()) {
      const OpenFile& open = *found->second;
      const Span asked{
          offset_of(open.lines, message.number("/range/start/line"), message.number("/range/start/character")),
          offset_of(open.lines, message.number("/range/end/line"), message.number("/range/end/character"))};
      reply["result"] = actions(open.report, open.text, open.lines, uri, asked);
    }
  } else {
    reply["error"] = failure(-32601, "the method is not supported");
  }
  return dump(reply);
}

bool FrameReader::take(std::string_view bytes, std::vector<std::string>& messages) {
  pending_ += bytes;
  while (true) {
    const std::size_t end = pending_.find("\r\n\r\n");
    if (end == std::string::npos) return pending_.size() < 4096;
    constexpr std::string_view kLength = "Content-Length: ";
    const std::size_t at = pending_.find(kLength);
    if (at == std::string::npos || at > end) return false;
    std::size_t size = 0;
    const char* digits = pending_.data() + at + kLength.size();
    const auto [stop, error] = std::from_chars(digits, pending_.data() + end, size);
    if (error != std::errc() || size > kMaxBytes) return false;
    if (pending_.size() < end + 4 + size) return true;
    messages.push_back(pending_.substr(end + 4, size));
    pending_.erase(0, end + 4 + size);
  }
}

std::string frame(const std::string& message) {
  return "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
}

}  // namespace capstan::lint
