// Errors as problem documents (RFC 9457): the closed set of codes is the set of problem types.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/message.h"

namespace fairlead::api {

// `errors`: at least one. The first decides the status; with several, each is listed.
net::Response problem(std::span<const Error> errors, const std::string& request);
net::Response problem(const Error& error, const std::string& request);

}  // namespace fairlead::api
