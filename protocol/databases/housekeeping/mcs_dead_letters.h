// SPDX-License-Identifier: Apache-2.0
#pragma once
// DeadLetterTable: the keys with which a handler failed too often, so that they can be seen from outside and after the
// end of the process. Handlers do not read it: they try on by themselves (rs R-086).
//
// Owner: the program, which hands notices of the framework on. Thread: one call at a time; its connection is its own.

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/resource_state/ports/resource.h"
#include "protocol/databases/sql_connection.h"

namespace yk::mcs {

/// Which handler, and with what.
struct DeadLetterKey {
    rs::Kind kind{};
    std::string id;
    std::string handler;

    friend auto operator<=>(const DeadLetterKey&, const DeadLetterKey&) = default;
};

struct DeadLetter {
    DeadLetterKey key;
    std::uint64_t attempts = 0;
    std::string error;
    std::int64_t first_ms = 0; // when it became one, and when that was said last; by the clock of the database
    std::int64_t last_ms = 0;
};

class DeadLetterTable {
public:
    explicit DeadLetterTable(rs::SqlConnection& connection) : connection_(connection) {}

    /// One that is there keeps the time when it became one.
    [[nodiscard]] Result<void, rs::StoreError> put(const DeadLetterKey& key, std::uint64_t attempts,
                                                   const std::string& error);
    /// The handler succeeded. One that is not there is no error.
    [[nodiscard]] Result<void, rs::StoreError> remove(const DeadLetterKey& key);
    /// All of a handler: it begins anew, with every key.
    [[nodiscard]] Result<void, rs::StoreError> remove_all(rs::Kind kind, const std::string& handler);
    /// The next ones by kind, id and handler; from the beginning after an empty key.
    [[nodiscard]] Result<std::vector<DeadLetter>, rs::StoreError> list(const DeadLetterKey& after, std::int64_t most);

private:
    rs::SqlConnection& connection_;
};

} // namespace yk::mcs
