// TLS contexts from files: TLS 1.2 and later.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "base/result.h"
#include "net/server.h"

namespace fairlead::net::wire {

// Error: kInvalidArgument, naming the file that cannot be read, or that key and certificate do not
// fit.
Result<std::shared_ptr<boost::asio::ssl::context>> server_context(const TlsFiles& files);

// Trusts the certificates of `ca_file`, or those of the system where it is empty.
Result<std::shared_ptr<boost::asio::ssl::context>> client_context(const std::string& ca_file);

}  // namespace fairlead::net::wire
