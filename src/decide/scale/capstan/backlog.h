#pragma once

#include "decide/scale/capstan/step.h"

// Sizes the fleet for the length that the queue will have when new replicas are ready.
namespace capstan::decide::scale {

/// Returns the replicas needed for the queue that will exist when replicas requested now are ready. The present queue
/// would be too small a measure, because it grows until then by the arrivals that no replica serves. Returns 0 if no
/// request waits, or if the serving and starting replicas will then drain the queue soon: within a quarter of the lead
/// time, or within a minute if that is longer. The growth of in-flight requests over a minute also counts as demand,
/// because engines that preempt serve less than the model predicts.
///
/// Sets `RequiredReplicas::backlog_drains`.
/// @param demand  demand of the arrivals, replicas
double backlog(Step& step, double demand);

/// Returns true if a queue is draining or its last requests are being answered, so that more is served than arrives.
bool is_queue_draining(Step& step);

}  // namespace capstan::decide::scale
