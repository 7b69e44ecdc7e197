// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/ports/resource_store.h"

#include <catch2/catch.hpp>

#include "tests/support/resource_state/albums.h"
#include "tests/support/resource_state/memory_database.h"

namespace yk::testing {

using rs::StoreFault;

TEST_CASE(
    "rs R-002 only the service that owns a kind writes it, and another one is refused before the database is asked") {
    MemoryDatabase database;
    MemoryStore<Album> albums{database};
    bool was_asked = false;
    database.store_fault = [&](std::string_view) {
        was_asked = true;
        return std::nullopt;
    };
    const rs::WriterIdentity shop{"shop"}, painter{"painter"};
    CHECK(albums.insert(painter, album("a")).error().fault == StoreFault::NotOwner);
    CHECK(albums.update(painter, album("a"), {}).error().fault == StoreFault::NotOwner);
    CHECK(albums.erase(painter, "a", {}).error().fault == StoreFault::NotOwner);
    CHECK(albums.insert(painter, album("a")).error().message == "only shop writes rows of kind album, not painter");
    CHECK_FALSE(was_asked);
    CHECK(albums.insert(shop, album("a")).ok());
    CHECK(was_asked);
    CHECK(database.events().size() == 1);
}

TEST_CASE("a write that expects another row is a conflict and changes nothing") {
    MemoryDatabase database;
    MemoryStore<Album> albums{database};
    const rs::WriterIdentity shop{"shop"};
    REQUIRE(albums.insert(shop, album("a")).ok());
    CHECK(albums.insert(shop, album("a")).error().fault == StoreFault::Conflict);
    Album next = albums.rows().at("a");
    const rs::Expect expect{next.meta.uid, next.meta.version};
    next.title = "Blue";
    CHECK(albums.update(shop, next, expect).error().fault == StoreFault::Fatal); // the version has to move
    ++next.meta.version;
    CHECK(albums.update(shop, next, expect).ok());
    CHECK(albums.update(shop, next, expect).error().fault == StoreFault::Conflict);
    CHECK(albums.erase(shop, "a", {"uid-9"}).error().fault == StoreFault::Conflict);
    CHECK(albums.erase(shop, "a", {expect.uid, 2}).ok());
    CHECK(albums.erase(shop, "a", {expect.uid}).ok()); // gone is what was wanted
    CHECK(database.events().size() == 3);
}

} // namespace yk::testing
