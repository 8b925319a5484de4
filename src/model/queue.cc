#include "model/queue.h"

namespace fairlead {

Entitlement default_entitlement(const std::string& resource) {
  Entitlement entitlement;
  if (resource != "gpu") entitlement.quota = kUnlimited;
  return entitlement;
}

}  // namespace fairlead
