// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/postgres/postgres_store.h"

namespace yk::mcs {

Result<PlacementsById, rs::StoreError> read_placements_of(rs::SqlConnection& connection,
                                                          const std::vector<std::string_view>& schedules) {
    using Placements = Result<std::vector<Placement>, std::string>;
    PlacementsById placements;
    const std::string wanted = rs::array_of(schedules);
    rs::SqlStatement select = connection.statement(std::string{"SELECT "} + kPlacementColumns +
                                                   ", schedule_id FROM placement WHERE schedule_id = ANY(?)"
                                                   " ORDER BY schedule_id, replica");
    select.bind(1, std::string_view{wanted});
    for (;;) {
        YK_TRY(has_row, select.step());
        if (!has_row) return placements;
        Placements& own = placements.emplace(select.text(7), Placements{std::vector<Placement>{}}).first->second;
        auto made = decode_placement(select);
        if (!own.ok()) continue;
        if (made.ok())
            own->push_back(std::move(made).value());
        else
            own = Placements{made.error()};
    }
}

} // namespace yk::mcs
