#pragma once

// Helpers for the tests of src/workload and the fuzz targets: reading a source completely, and compressing bytes in
// memory.

#include <zlib.h>
#include <zstd.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "workload/source.h"

namespace capstan::workload::testing {

inline std::vector<Request> read_all_requests(Source& source, std::size_t batch = 256) {
  std::vector<Request> requests;
  for (;;) {
    const std::size_t before = requests.size();
    requests.resize(before + batch);
    const std::size_t count = source.fill(std::span(requests).subspan(before));
    requests.resize(before + count);
    if (count < batch) return requests;
  }
}

inline std::string gzipped(std::string_view bytes) {
  z_stream deflater{};
  CAPSTAN_ASSERT(deflateInit2(&deflater, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&deflater, bytes.size()) + 32, '\0');
  deflater.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  deflater.avail_in = static_cast<uInt>(bytes.size());
  deflater.next_out = reinterpret_cast<Bytef*>(packed.data());
  deflater.avail_out = static_cast<uInt>(packed.size());
  CAPSTAN_ASSERT(deflate(&deflater, Z_FINISH) == Z_STREAM_END);
  packed.resize(deflater.total_out);
  deflateEnd(&deflater);
  return packed;
}

inline std::string zstandard(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3);
  CAPSTAN_ASSERT(ZSTD_isError(size) == 0);
  packed.resize(size);
  return packed;
}

}  // namespace capstan::workload::testing
