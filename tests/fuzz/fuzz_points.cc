// Reads any bytes as the measured points of `engine predict --points`. The first byte decides whether a
// valid header is added.
#include <algorithm>
#include <string>

#include "check_error.h"
#include "experiment/run/predict.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  constexpr std::size_t kMaxBytes = 512;  // few rows, because a row of many clients takes long to simulate
  if (size == 0) return 0;
  std::string text;
  if (data[0] % 4 != 0) {
    text =
        "id,backend,model_path,system,precision,mode,isl,osl,batch_size,tp_size,pp_size,attention_dp_size,"
        "silicon_ttft_ms,silicon_tpot_ms\n";
  }
  text.append(reinterpret_cast<const char*>(data) + 1, std::min(size - 1, kMaxBytes));
  const Result<experiment::PredictReport> report =
      experiment::predict(text, "fuzz.csv", "vllm", engine::EngineTable::bundled());
  if (!report) {
    fuzz::check_error(report.error());
  } else {
    CAPSTAN_ASSERT(!report->rows.empty());
  }
  return 0;
}
