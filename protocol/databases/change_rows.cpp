// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/change_rows.h"

#include <utility>

namespace yk::rs {

Result<EventBatch, StoreError> read_changes(SqlStatement& tail, const Cursor& from, std::size_t most,
                                            std::uint64_t (*transaction)(const SqlRow& row)) {
    EventBatch batch;
    batch.position = from;
    for (;;) {
        YK_TRY(has_row, tail.step());
        if (!has_row) break;
        ChangeEvent event;
        event.at = {transaction(tail), static_cast<std::uint64_t>(tail.number(0))};
        event.kind = static_cast<Kind>(tail.number(1));
        event.op = static_cast<Op>(tail.number(2));
        event.id = tail.text(3);
        event.uid = tail.text(4);
        event.version = tail.number(5);
        batch.position.lanes[0] = event.at;
        batch.events.push_back(std::move(event));
    }
    batch.may_have_more = batch.events.size() == most;
    return batch;
}

} // namespace yk::rs
