// What comes from outside: the time at which a person looks, and randomness that nobody can guess.
#pragma once

#include <string>

#include "base/time.h"

namespace fairlead::cli {

Instant wall_clock();

// 128 bits as hexadecimal digits: the same submission again is known by it.
std::string new_idempotency_key();

}  // namespace fairlead::cli
