// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/mcs_connections.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "ykd/process/random_bytes.h"

namespace yk::service {
namespace {

/// Leases are looked after on the thread that answers users, and asked for again soon.
constexpr std::chrono::milliseconds kMostForLeases{250};

/// Makes an empty file with mode 0600, if there is none: SQLite makes its other files like it. One that is there is not
/// opened, since closing it would end the locks that this process has by SQLite.
Result<void, rs::StoreError> make_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) ::close(file);
    if (file >= 0 || errno == EEXIST) return {};
    return rs::StoreError{rs::StoreFault::Down, path + ": " + std::strerror(errno)};
}

} // namespace

Result<McsConnections, rs::StoreError> McsConnections::open(const std::string& path) {
    YK_CHECKED(make_file(path));
    McsConnections made;
    made.path = path;
    YK_TRY(rows, rs::SqliteConnection::open(path));
    made.rows = std::move(rows);
    const auto migrated = mcs::migrate(*made.rows, uuid_text(random_bytes()));
    if (!migrated.ok()) return rs::StoreError{migrated.error().fault, path + ": " + migrated.error().message};
    YK_TRY(identity, mcs::read_identity(*made.rows));
    made.identity = std::move(identity);
    for (auto* const each : {&made.log, &made.leases, &made.writes, &made.house}) {
        YK_TRY(another, mcs::reconnect(path, made.identity));
        *each = std::move(another);
    }
    made.leases->wait_for_locks(kMostForLeases);
    return made;
}

} // namespace yk::service
