// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/dump_snapshots.h"

#include <catch2/catch.hpp>

#include <utility>

using namespace yk;
using namespace yk::service;

namespace {

/// A place in a picture of so many nodes.
PageCursor cursor_with(std::size_t nodes = 1) {
    DumpSnapshot snapshot;
    snapshot.parts.emplace_back().nodes.resize(nodes);
    return {std::make_shared<const DumpSnapshot>(std::move(snapshot)), 0, nullptr};
}

} // namespace

TEST_CASE("I-405 a picture is kept for a slow reader as long as a list of the state") {
    DumpSnapshots snapshots;
    const wire::Sid session{};
    const CursorOwner owner{session, "a"};
    const std::string of_snapshot = snapshots.keep(owner, cursor_with(), {});
    const std::string of_state = snapshots.keep(owner, {nullptr, 0, std::make_shared<const LiveCursor>()}, {});
    const auto now = SteadyClock::now();
    snapshots.sweep(now + std::chrono::minutes{4});
    CHECK(snapshots.find(session, of_snapshot));
    CHECK(snapshots.find(session, of_state));
    snapshots.sweep(now + std::chrono::minutes{6});
    CHECK_FALSE(snapshots.find(session, of_snapshot));
    CHECK_FALSE(snapshots.find(session, of_state));
}

TEST_CASE("I-405 who has most loses pictures first, and of a session the newest stays") {
    constexpr std::size_t kLarge = 17'000; // about 17 MiB; there is room for three
    DumpSnapshots snapshots;
    const CursorOwner polite{{1}, "a"}, greedy{{2}, "b"}, beside{{3}, "b"};
    const std::string small = snapshots.keep(polite, cursor_with(), {}); // not the newest of its session
    const std::string large = snapshots.keep(polite, cursor_with(kLarge), {});
    const std::string other = snapshots.keep(beside, cursor_with(kLarge), {});
    std::string last;
    for (int i = 0; i < 10; ++i) {
        const std::string before = std::exchange(last, snapshots.keep(greedy, cursor_with(kLarge), {}));
        CHECK(snapshots.find(greedy.session, last));
        CHECK_FALSE(snapshots.find(greedy.session, before));
    }
    CHECK(snapshots.find(polite.session, small));
    CHECK(snapshots.find(polite.session, large));
    CHECK(snapshots.find(beside.session, other));
    const std::string alone = snapshots.keep(polite, cursor_with(5 * kLarge), {}); // is kept, though too large
    CHECK(snapshots.find(polite.session, alone));
    CHECK(snapshots.find(polite.session, small) == std::nullopt);
}
