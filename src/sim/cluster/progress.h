// Progress of a long run, told to whoever shows it. Called often; must be cheap.
#pragma once

#include <functional>

namespace fairlead::sim {

// From 0 to 1. Empty: nobody watches.
using Progress = std::function<void(double done)>;

}  // namespace fairlead::sim
