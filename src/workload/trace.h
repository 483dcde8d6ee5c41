#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "workload/byte_stream.h"
#include "workload/line_reader.h"
#include "workload/source.h"

namespace capstan::workload {

/// Message of the error about a trace whose header is correct and which has no request.
inline constexpr std::string_view kNoTraceRows = "the trace has no rows, expected at least one";

/// Opens a trace. The first line determines the format and is checked here; the other rows are checked when they are
/// read.
///
/// In all formats, arrivals count from the first row, rows must be in order of time, and unknown columns or keys are
/// skipped. A length of 0 is read as 1: an engine generates at least one token for a request that it served, and traces
/// write 0 for a failed request (BurstGPT) or for an answer that was rounded down (ServeGen's statistics).
Result<std::unique_ptr<Source>> open_trace(std::unique_ptr<ByteStream> bytes);

/// Opens a CSV or a Mooncake trace for `open_trace`, which has already read the first line.
Result<std::unique_ptr<Source>> open_csv_trace(LineReader lines, std::string header);
Result<std::unique_ptr<Source>> open_mooncake_trace(LineReader lines, std::string first_row);

}  // namespace capstan::workload
