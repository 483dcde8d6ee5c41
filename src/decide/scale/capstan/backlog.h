#pragma once

#include "decide/scale/capstan/step.h"

// A queue, as replicas are sized by it: what it will be when more are ready, and what those that serve do to it.
namespace capstan::decide::scale {

/// Replicas for the queue that there will be when what is asked for now is ready, where those that are
/// counted would not soon have worked it off: in a quarter of the lead time, a minute at least. Today's queue would be
/// too few of them, as until then comes what nobody serves. What is in flight tells what comes as well, by its growth
/// over a minute: engines that preempt serve less than they are believed to, and their queue grows all the same.
///
/// Tells `Sizing::backlog_drains`. 0 where nothing waits.
/// @param demand  of what comes, in replicas
double backlog(Step& step, double demand);

/// Is a queue worked off, or the last of it being answered? Then more is served than comes.
bool works_off(Step& step);

}  // namespace capstan::decide::scale
