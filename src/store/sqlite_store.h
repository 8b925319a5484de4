// The store in one SQLite file: write-ahead log, every commit flushed to the disk.
//
// Opening checks the pages of the file (cost O(size)); a file that a newer program wrote is
// refused, one of an older program is brought up to date in one transaction.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace fairlead::store {

// Errors: kUnavailable, kIo; kFailed if the file is damaged or of a newer program.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path);

// Writes all that is committed, as it is at one moment, to the new file `to`; a server may write to
// `from` meanwhile. Errors: kNotFound if there is no `from`; kUnavailable, kIo, kFailed. Cost:
// O(size).
Result<void> copy_sqlite_store(const std::string& from, const std::string& to);

// Takes half a MiB beside the store, which opening it gives up where the disk is full, so that a
// server can always start and say what runs. To be called when all that a start writes is written.
void keep_reserve(const std::string& path);

}  // namespace fairlead::store
