// Turns an internal error of the core (FAIRLEAD_CHECK) into a failed case, so that the history that
// led there is shrunk and printed like any other. What the core held then is leaked.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace fairlead::property {

// The internal error that `work` ran into; nothing if it came to its end. Does not nest.
std::optional<std::string> internal_error(const std::function<void()>& work);

}  // namespace fairlead::property
