#include "serve/page.h"

#include "base/assert.h"
#include "serve/bundled_page.h"

namespace capstan::serve {
namespace {

/// The place of the data in the bundled page; web/inline.ts writes it.
constexpr std::string_view kDataPlace = R"(<script type="application/json" id="data">null</script>)";
constexpr std::string_view kNoData = "null</script>";

/// Appends JSON such that no name in it can end the element that holds it. In JSON, "<" occurs only in strings.
void append_json(std::string& html, std::string_view json) {
  for (const char c : json) {
    if (c == '<') {
      html += "\\u003c";
    } else {
      html += c;
    }
  }
}

}  // namespace

std::string page(std::string_view result) {
  const std::size_t place = kBundledPage.find(kDataPlace);
  CAPSTAN_ASSERT(place != kBundledPage.npos);
  const std::size_t data = place + kDataPlace.size() - kNoData.size();
  std::string html;
  html.reserve(kBundledPage.size() + result.size() + result.size() / 16);
  html += kBundledPage.substr(0, data);
  append_json(html, result);
  html += kBundledPage.substr(data + std::string_view("null").size());
  return html;
}

}  // namespace capstan::serve
