#include "serve/page.h"

#include "base/assert.h"
#include "serve/bundled_page.h"
#include "serve/first_part.h"
#include "serve/packed.h"

namespace capstan::serve {
namespace {

// The places in the bundled page that are filled in; web/inline.ts writes them.
constexpr std::string_view kDataPlace = R"(<script type="application/json" id="data">null</script>)";
constexpr std::string_view kFirstPlace = R"(<script type="application/json" id="first">null</script>)";
constexpr std::string_view kServerPlace = R"(<script type="application/json" id="server">null</script>)";
constexpr std::string_view kNoData = "null</script>";
constexpr std::string_view kPolicyStart = R"(<meta http-equiv="Content-Security-Policy" content=")";
constexpr std::string_view kNoConnection = "default-src 'none'; ";
constexpr std::string_view kOwnConnection = "connect-src 'self'; ";

/// Appends JSON so that no text in it can end the HTML element around it. In JSON, "<" occurs only in strings.
void append_json(std::string& html, std::string_view json) {
  for (const char c : json) {
    if (c == '<') {
      html += "\\u003c";
    } else {
      html += c;
    }
  }
}

/// Returns the position of a place's `null` in the bundled page. The data of the place replace this `null`.
std::size_t data_position(std::string_view place) {
  const std::size_t found = kBundledPage.find(place);
  CAPSTAN_ASSERT(found != kBundledPage.npos);
  return found + place.size() - kNoData.size();
}

/// A shorter result is not packed, so that it can be read in the file.
constexpr std::size_t kPackedFrom = 64 * 1024;

/// @param is_packed  true: a long result is compressed, as a JSON string
std::string filled(std::string_view result, bool is_packed) {
  // In the page, the part that is shown at once comes before the data.
  const std::size_t first = data_position(kFirstPlace), data = data_position(kDataPlace);
  const std::size_t null = std::string_view("null").size();
  std::string html;
  html.reserve(kBundledPage.size() + result.size() / 2);
  html += kBundledPage.substr(0, first);
  append_json(html, first_part(result));
  html += kBundledPage.substr(first + null, data - first - null);
  if (is_packed && result.size() >= kPackedFrom) {
    html += '"' + packed(result) + '"';
  } else {
    append_json(html, result);
  }
  html += kBundledPage.substr(data + null);
  return html;
}

}  // namespace

std::string page(std::string_view result) { return filled(result, true); }

std::string served_page(std::string_view result, std::string_view server) {
  std::string html = filled(result, false);
  const std::size_t connection = html.find(kNoConnection) + kNoConnection.size();
  html.insert(connection, kOwnConnection);
  // The server's place comes before the places that `filled` has filled, so only the insertion above has moved it.
  const std::size_t place = data_position(kServerPlace) + kOwnConnection.size();
  std::string described;
  append_json(described, server);
  html.replace(place, std::string_view("null").size(), described);
  return html;
}

std::string_view content_policy(std::string_view page) {
  const std::size_t start = page.find(kPolicyStart);
  CAPSTAN_ASSERT(start != page.npos);
  page.remove_prefix(start + kPolicyStart.size());
  return page.substr(0, page.find('"'));
}

}  // namespace capstan::serve
