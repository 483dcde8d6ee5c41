#include "net/http.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/assert.h"

namespace capstan::net {

const std::string* find_header(const std::vector<Header>& headers, std::string_view name) {
  const auto found = std::ranges::find_if(headers, [&](const Header& h) { return equal_any_case(h.name, name); });
  return found == headers.end() ? nullptr : &found->value;
}

std::string_view name_of(Failure failure) {
  switch (failure) {
    case Failure::none:
      return "none";
    case Failure::refused:
      return "refused";
    case Failure::resolve:
      return "resolve";
    case Failure::connect:
      return "connect";
    case Failure::tls:
      return "tls";
    case Failure::connect_timeout:
      return "connect_timeout";
    case Failure::total_timeout:
      return "total_timeout";
    case Failure::idle_timeout:
      return "idle_timeout";
    case Failure::lost:
      return "lost";
    case Failure::too_large:
      return "too_large";
    case Failure::protocol:
      return "protocol";
  }
  CAPSTAN_ASSERT(false);
}

}  // namespace capstan::net
