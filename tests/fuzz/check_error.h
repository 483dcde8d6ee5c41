#pragma once

#include "base/assert.h"
#include "base/error.h"

namespace capstan::fuzz {

/// What every refusal owes its reader: words, and not too many of them.
inline void check_error(const Error& error) { CAPSTAN_ASSERT(!error.message.empty() && error.message.size() < 4000); }

}  // namespace capstan::fuzz
