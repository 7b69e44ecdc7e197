// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/housekeeping/mcs_dead_letters.h"

#include "protocol/databases/mcs_statements.h"

namespace yk::mcs {
namespace {

using Done = Result<void, rs::StoreError>;

std::int64_t number_of(rs::Kind kind) {
    return static_cast<std::int64_t>(kind);
}

Done done(const Result<std::int64_t, rs::StoreError>& changed) {
    return changed.ok() ? Done{} : Done{changed.error()};
}

} // namespace

Done DeadLetterTable::put(const DeadLetterKey& key, std::uint64_t attempts, const std::string& error) {
    return done(execute(connection_,
                        "INSERT INTO dead_letter(kind, id, handler, attempts, error, first_ms, last_ms)"
                        " VALUES(?1, ?2, ?3, ?4, ?5, " YK_NOW_MS ", " YK_NOW_MS ") ON CONFLICT(kind, id, handler)"
                        " DO UPDATE SET attempts = ?4, error = ?5, last_ms = " YK_NOW_MS,
                        number_of(key.kind), key.id, key.handler, static_cast<std::int64_t>(attempts), error));
}

Done DeadLetterTable::remove(const DeadLetterKey& key) {
    return done(execute(connection_, "DELETE FROM dead_letter WHERE kind = ? AND id = ? AND handler = ?",
                        number_of(key.kind), key.id, key.handler));
}

Done DeadLetterTable::remove_all(rs::Kind kind, const std::string& handler) {
    return done(
        execute(connection_, "DELETE FROM dead_letter WHERE kind = ? AND handler = ?", number_of(kind), handler));
}

Result<std::vector<DeadLetter>, rs::StoreError> DeadLetterTable::list(const DeadLetterKey& after, std::int64_t most) {
    std::vector<DeadLetter> letters;
    rs::SqlStatement select =
        connection_.statement("SELECT kind, id, handler, attempts, error, first_ms, last_ms FROM dead_letter"
                              " WHERE (kind, id, handler) > (?, ?, ?) ORDER BY kind, id, handler LIMIT ?");
    select.bind(1, number_of(after.kind)).bind(2, after.id).bind(3, after.handler).bind(4, most);
    for (;;) {
        YK_TRY(has_row, select.step());
        if (!has_row) return letters;
        letters.push_back({{static_cast<rs::Kind>(select.number(0)), select.text(1), select.text(2)},
                           static_cast<std::uint64_t>(select.number(3)),
                           select.text(4),
                           select.number(5),
                           select.number(6)});
    }
}

} // namespace yk::mcs
