// For tests: a certificate for localhost that signs itself, and its key, as PEM files.
#pragma once

#include <string>

namespace fairlead::net::testing {

void write_certificate(const std::string& certificate_file, const std::string& key_file,
                       const std::string& common_name = "localhost");

}  // namespace fairlead::net::testing
