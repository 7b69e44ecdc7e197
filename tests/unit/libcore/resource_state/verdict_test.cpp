// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/verdict.h"

#include <catch2/catch.hpp>

namespace yk::rs {

TEST_CASE("rs R-004, rs R-083 what a row means for the cache: the table of section 9") {
    using Seen = std::optional<Sight>;
    const Seen none;
    const Seen base = Sight{"u", 5, 2, 100, 0};
    struct Row {
        const char* what;
        Seen row, cached;
        Verdict verdict;
    };
    const Row table[] = {
        {"neither", none, none, Verdict::Nothing},
        {"in the database only", base, none, Verdict::Insert},
        {"in the cache only", none, base, Verdict::Remove},
        {"newer, other content", Sight{"u", 6, 2, 101, 0}, base, Verdict::Update},
        {"newer, other generation", Sight{"u", 6, 3, 100, 0}, base, Verdict::Update},
        {"newer, the same", Sight{"u", 6, 2, 100, 0}, base, Verdict::VersionOnly},
        {"the same", base, base, Verdict::Same},
        {"other content, same version", Sight{"u", 5, 2, 101, 0}, base, Verdict::SameVersion},
        {"older", Sight{"u", 4, 2, 99, 0}, base, Verdict::Stale},
        {"older, of a later era", Sight{"u", 4, 2, 99, 1}, base, Verdict::Update},
        {"older, of a later era, the same", Sight{"u", 4, 2, 100, 1}, base, Verdict::VersionOnly},
        {"another life", Sight{"v", 1, 1, 100, 0}, base, Verdict::Reborn},
        {"another life with a higher version", Sight{"v", 9, 1, 100, 0}, base, Verdict::Reborn},
    };
    for (const Row& each : table) {
        INFO(each.what);
        CHECK(compare(each.row, each.cached) == each.verdict);
    }
}

} // namespace yk::rs
