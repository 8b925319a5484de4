// Digests of secrets that are random themselves (tokens, session ids): no salt and no slow hash is
// needed for those. Passwords are not kept anywhere.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::control {

// Hexadecimal, of 256 bits (BLAKE2b, libsodium).
std::string secret_digest(std::string_view secret);
std::string content_digest(std::string_view content);

// In a time that does not depend on where they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace fairlead::control
