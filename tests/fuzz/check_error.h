#pragma once

#include "base/assert.h"
#include "base/error.h"

namespace capstan::fuzz {

/// Checks that an error has a message and that the message is not too long.
inline void check_error(const Error& error) { CAPSTAN_ASSERT(!error.message.empty() && error.message.size() < 4000); }

}  // namespace capstan::fuzz
