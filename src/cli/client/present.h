// What a server's scheduler knows, fetched to be played on here; and `fairlead export` of it.
#pragma once

#include "base/result.h"
#include "cli/app.h"
#include "cli/client/connection.h"
#include "control/present.h"

namespace fairlead::cli {

// Errors: those of the connection; kFailed for an answer that this version cannot read.
Result<control::Present> fetch_present(const ConnectionFlags& flags, CliContext& context);

}  // namespace fairlead::cli
