#include "peers/formula/wva_queue.h"

namespace capstan::peers::wva {

float iteration_ms(const ServiceParameters& service, const RequestSize& size, float batch) {
  const float computed = (size.avg_input + size.avg_output) / (size.avg_output + 1);
  const float looked_back = size.avg_input + size.avg_output / 2;
  return service.alpha + batch * (service.beta * computed + service.gamma * looked_back);
}

float prefill_ms(const ServiceParameters& service, const RequestSize& size, float batch) {
  if (size.avg_input == 0) return 0;
  return iteration_ms(service, size, batch) + (service.beta + service.gamma) * size.avg_input;
}

float decode_ms(const ServiceParameters& service, const RequestSize& size, float batch) {
  const float looked_back = size.avg_input + size.avg_output / 2;
  return iteration_ms(service, size, batch) + service.beta + service.gamma * looked_back;
}

bool is_valid_queue(float capacity, float arrivals, float services) {
  return arrivals >= 0 && services > 0 && arrivals / services <= capacity;
}

}  // namespace capstan::peers::wva
