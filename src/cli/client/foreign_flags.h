// Flags that other command lines of this kind know and that mean nothing here yet: what asks for a
// container or a Kubernetes cluster is refused, what can do no harm is only remarked on.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::cli {

enum class Stance : std::uint8_t {
  kRefused,   // an error: the workload would not be what was asked for
  kRemarked,  // a warning: it changes nothing here
  kAlreadySo  // accepted in silence: it is so anyway
};

struct ForeignFlag {
  std::string_view names;  // as CLI11 takes them: "-v,--volume"
  bool takes_value;
  Stance stance;
  std::string_view why;
  std::string_view cure;  // may be empty

  // The first long name: "--volume".
  std::string_view name() const;
};

std::span<const ForeignFlag> foreign_flags();

struct ForeignVerdict {
  std::vector<Error> errors;
  std::vector<Error> warnings;
};

// `given`: long names of foreign flags, each told once.
ForeignVerdict judge_foreign(std::span<const std::string> given);

}  // namespace fairlead::cli
