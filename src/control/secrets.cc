#include "control/secrets.h"

#include <array>
#include <sodium.h>

#include "base/check.h"

namespace fairlead::control {

std::string content_digest(std::string_view content) {
  FAIRLEAD_CHECK(sodium_init() >= 0, "libsodium works");
  std::array<unsigned char, crypto_generichash_BYTES> hash{};
  crypto_generichash(hash.data(), hash.size(),
                     reinterpret_cast<const unsigned char*>(content.data()), content.size(),
                     nullptr, 0);
  std::array<char, crypto_generichash_BYTES * 2 + 1> text{};
  sodium_bin2hex(text.data(), text.size(), hash.data(), hash.size());
  return text.data();
}

std::string secret_digest(std::string_view secret) {
  return content_digest(std::string("fairlead secret ") + std::string(secret));
}

bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace fairlead::control
