#include "workload/trace.h"

#include <utility>

namespace capstan::workload {

Result<std::unique_ptr<Source>> open_trace(std::unique_ptr<ByteStream> bytes) {
  const std::string name = bytes->name();
  LineReader lines(std::move(bytes));
  std::string_view line;
  if (!lines.next(line)) {
    if (lines.error()) return std::unexpected(*lines.error());
    return std::unexpected(Error{.file = name, .message = "the file is empty, expected a trace"});
  }
  std::string first(line);  // a copy, because moving the reader invalidates `line`
  if (first.starts_with('{')) return open_mooncake_trace(std::move(lines), std::move(first));
  return open_csv_trace(std::move(lines), std::move(first));
}

}  // namespace capstan::workload
