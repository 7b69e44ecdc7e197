// SPDX-License-Identifier: Apache-2.0
#pragma once
// WritePort: the port by which writes of services reach a database: several at once, in one transaction.

#include <cstdint>
#include <span>
#include <vector>

#include "libcore/mcs/writes.h"

namespace yk::mcs {

/// What came of a group of writes.
struct GroupOutcome {
    enum class What : std::uint8_t {
        Answered, // each has its outcome; what is Written is committed
        Away,     // the database could not be asked: none was looked at, and all may be tried again later
        Undone    // one of them, or the commit, ended the transaction: none is written, also of those that went well
    };
    What what = What::Answered;
    std::vector<WriteOutcome> outcomes; // in the order of the requests; if not Answered, what is wrong is in each
};

/// Owner: the program. Thread: one call at a time.
class WritePort {
public:
    virtual ~WritePort() = default;
    /// May wait for the disk, and for others that write, but has a limit of its own for that, after which it answers
    /// Away.
    [[nodiscard]] virtual GroupOutcome write(std::span<const WriteRequest* const> requests) = 0;
};

} // namespace yk::mcs
