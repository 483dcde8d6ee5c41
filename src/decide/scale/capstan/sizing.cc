#include "decide/scale/capstan/sizing.h"

#include "decide/scale/capstan/forecast.h"
#include "decide/scale/capstan/rounding.h"
#include "decide/scale/capstan/step.h"

namespace capstan::decide::scale {
namespace {

void add_load(Sizing& s, const Step& step) {
  s.running = to_whole(step.load.running);
  s.waiting = to_whole(step.load.waiting);
  s.gateway_queued = to_whole(step.load.gateway_queued);
  s.prompt_tokens_per_s = to_whole(step.load.prompt_rate);
  s.generated_tokens_per_s = to_whole(step.load.generated_rate);
  s.serving = step.load.serving;
  s.starting = step.load.starting;
  s.silent = step.load.silent;
}

void add_capacity(Sizing& s, const Step& step) {
  const EngineEstimate& engine = step.variants.front().engine;
  const Capacity& carries = step.first_variant_capacity();
  s.role = step.role.role;
  s.prompt = to_whole(step.shape.prompt);
  s.output = to_whole(step.shape.output);
  s.context = to_whole(step.shape.context);
  s.modelled = engine.modelled;
  s.correction_ppm = to_ppm(engine.correction);
  s.batch = carries.batch;
  s.token_us = to_ppm(carries.token_s);
  s.tokens_per_s = to_whole(carries.tokens_per_s);
  s.bound = carries.bound;
  s.out_of_reach = carries.out_of_reach;
}

void add_need(Sizing& s, const RequiredReplicas& need) {
  s.arriving_tokens_per_s = to_whole(need.arriving_tokens_per_s);
  s.served_milli = to_milli(need.served);
  s.arriving_milli = to_milli(need.arriving);
  s.queue_drains = need.queue_drains;
  s.demand_milli = to_milli(need.demand);
  s.in_flight_milli = to_milli(need.in_flight);
  s.backlog_milli = to_milli(need.backlog);
  s.backlog_drains = need.backlog_drains;
  s.forecast_milli = to_milli(need.outlook.forecast);
  s.forecast_error_ppm = to_ppm(need.outlook.forecast_error);
  s.safety_milli = to_milli(need.outlook.safety);
  s.slack_ppm = to_ppm(need.outlook.slack);
  s.needed_milli = to_milli(need.total);
}

}  // namespace

Sizing sizing_of(const Step& step) {
  Sizing s;
  add_load(s, step);
  add_capacity(s, step);
  add_need(s, step.need);
  s.lead = step.lead;
  s.missed_ppm = to_ppm(step.missed_share);
  s.window = step.window;
  if (step.window > Duration{}) s.window_milli = to_milli(highest_need(step.memory, step.now - step.window));
  s.warm = step.warm;
  return s;
}

}  // namespace capstan::decide::scale
