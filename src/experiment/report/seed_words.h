#pragma once

#include <cstddef>
#include <string>

#include "experiment/run/seed_check.h"

// The outcomes of a policy or a fleet with several seeds, in words.
namespace capstan::experiment {

/// Returns the seeds: "1 to 5".
std::string seeds_words(const SeedCheck& check);

/// Returns the average price: "on average 105.57 USD/h (77,068 USD/month)"; empty if no price is known.
std::string average_words(const SeedCheck& check);

/// Returns how often the SLO is held: "with 1 of them (95.2 to 99.4 % met)".
std::string held_words(const SeedCheck& check);

/// Returns the shares that are met and the costs with all seeds: "99.7 to 99.9 % met for 83.07 to 126.28 USD, on
/// average 105.57 USD/h (77,068 USD/month)". Leaves out costs if no price is known.
std::string outcomes_words(const SeedCheck& check);

}  // namespace capstan::experiment
