// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/sql_connection.h"

namespace yk::rs {

Result<std::int64_t, StoreError> SqlConnection::number(const std::string& sql, std::int64_t otherwise) {
    SqlStatement question = statement(sql);
    YK_TRY(has_row, question.step());
    return has_row ? question.number(0) : otherwise;
}

Result<std::string, StoreError> SqlConnection::text(const std::string& sql) {
    SqlStatement question = statement(sql);
    YK_TRY(has_row, question.step());
    return has_row ? question.text(0) : std::string{};
}

Result<void, StoreError> SqlTransaction::commit() {
    YK_CHECKED(connection_.commit());
    is_over_ = true;
    return {};
}

} // namespace yk::rs
