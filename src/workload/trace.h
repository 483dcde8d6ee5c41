#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "workload/byte_stream.h"
#include "workload/line_reader.h"
#include "workload/source.h"

namespace capstan::workload {

/// Reads a trace in whichever of the known formats its first line is; that line is checked here, rows as they come.
///
/// Common to all: arrivals count from the first row; rows must be in order of time; a column or key that is not known
/// is skipped. A length of 0 is read as 1: an engine gives at least one token for a request that it served, and traces
/// write 0 for a request that failed (BurstGPT) or for an answer that was rounded away (ServeGen's statistics).
Result<std::unique_ptr<Source>> open_trace(std::unique_ptr<ByteStream> bytes);

/// The two kinds, for `open_trace`: the first line is read already.
Result<std::unique_ptr<Source>> open_csv_trace(LineReader lines, std::string header);
Result<std::unique_ptr<Source>> open_mooncake_trace(LineReader lines, std::string first_row);

}  // namespace capstan::workload
