#pragma once

#include <string>
#include <string_view>

namespace capstan::serve {

/// Returns the page that shows a result, as one HTML file that needs no server and no network. A long result is
/// compressed, and the browser unpacks it.
/// @param result  JSON as experiment::render_json writes it
std::string page(std::string_view result);

/// Returns the page for a server. It may connect to its own server, and to nothing else.
/// @param server  JSON that describes what the server can do
std::string served_page(std::string_view result, std::string_view server);

/// Returns the Content-Security-Policy of a page.
std::string_view content_policy(std::string_view page);

}  // namespace capstan::serve
