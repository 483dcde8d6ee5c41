// Reads any bytes as rows after a valid header of a CSV format. The first byte selects the format.
#include <string>

#include "read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr const char* kHeaders[] = {
      "TIMESTAMP,ContextTokens,GeneratedTokens\n",
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n",
      "arrival_s,client_id,input_tokens,output_tokens,reason_ratio\n",
  };
  if (size == 0) return 0;
  std::string bytes = kHeaders[data[0] % 3];
  bytes.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  capstan::fuzz::read_all(bytes);
  return 0;
}
