#pragma once

#include <span>

#include "decide/passes.h"
#include "decide/place/context.h"

// The passes of a placement, one file each. passes.cc lists them in their order. A pass decides about gangs in the
// order in which they are served. It leaves out gangs about which an earlier pass decided, except that
// nominate_claims() replaces the decision of state_shortfalls() about the gangs that it nominates.
namespace capstan::decide::place {

std::span<const Pass<Policy::Kind, Context>> passes();

/// `first_fit`: binds pods one by one, in the order of priority and age, to the first node with room. A gang without
/// room waits for its queue if the limit of the queue is too low for this gang and the earlier gangs without room
/// together.
void bind_pods(Context& context);

/// `gang`: binds all pods of each gang inside one domain, or none. A gang that would exceed the limit of a queue waits.
/// For a gang without room, notes the place that takes the most of its pods.
void bind_gangs(Context& context);

/// `gang`: evicts the pods of a gang that has been broken for Policy::broken_for, so that its workload creates it
/// again. No pod is evicted while nodes with GPUs of the gang's kind are on their way.
void evict_broken(Context& context);

/// `gang`: refuses a gang without room that is larger than any domain that exists or can be bought.
void refuse_oversized(Context& context);

/// `gang`: states for each gang without room what it lacks, so that nodes are bought for it. A gang is left out if its
/// queue could not hold it in addition to the gangs placed now and the earlier gangs without room, because the nodes
/// would stay empty.
void state_shortfalls(Context& context);

/// `gang`: nominates each gang with a shortfall to nodes on their way if the whole gang will have room once they are
/// ready.
void nominate_claims(Context& context);

/// `gang`: takes room for replicas that are planned and have no pods yet, or states what they lack, so that nodes are
/// bought before the pods appear. Replicas whose pods have a rule that Capstan does not follow are left out.
void reserve_planned(Context& context);

}  // namespace capstan::decide::place
