// SPDX-License-Identifier: Apache-2.0
// A list of applications, of a daemon that says what the test wants.
#include "ykd/mcs/core_link/core_listing.h"

#include <catch2/catch.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/si/errors.h"
#include "protocol/si/tool_requests.h"
#include "protocol/wire/codec.h"
#include "protocol/wire/envelope.h"

using namespace yk;
using namespace yk::service;

namespace {

/// Answers each RecoveryList with the next page, or refuses it.
class Pages {
public:
    CoreConnection::Parts parts() {
        return {[this](wire::Request request) { answer(std::move(request)); },
                [this](std::function<void()> call) { calls_.push_back(std::move(call)); }};
    }
    void add(const std::string& cursor, const std::vector<std::string>& ids) {
        si::RecoveryListReply page;
        page.cursor = cursor;
        for (const std::string& id : ids) page.items.push_back({"default", {}, id, {}, 0});
        pages_.push_back(std::move(page));
    }
    /// True: there was something to do.
    bool turn_once(CoreListing& listing) {
        const bool did = listing.turn(Instant{});
        for (const auto& call : std::exchange(calls_, {})) call();
        return did || !calls_.empty();
    }
    void turn(CoreListing& listing) {
        while (turn_once(listing)) {
        }
    }

    std::vector<std::string> asked; // kinds, and the cursors of lists
    std::optional<si::ErrorCode> refusal;

private:
    void answer(wire::Request request) {
        const auto asks = wire::decode_request(request.bytes());
        REQUIRE(asks.ok());
        asked.emplace_back(asks->kind);
        wire::Buffer out;
        if (asks->kind == "Hello") {
            si::HelloReply reply;
            reply.sid.bytes = std::string(16, 's');
            wire::encode_ok(out, asks->echo(), std::string_view{wire::encoded(reply)});
        } else if (refusal) {
            wire::encode_error(out, asks->echo(), {*refusal, "not now", {}, {}, {}});
        } else if (asks->kind == "RecoveryList") {
            const auto list = wire::decode<si::RecoveryListRequest>(asks->body);
            REQUIRE(list.ok());
            CHECK(list->rm_id == "mcs");
            CHECK(list->kind == "applications");
            asked.back() += " " + list->cursor;
            REQUIRE_FALSE(pages_.empty());
            wire::encode_ok(out, asks->echo(), std::string_view{wire::encoded(pages_.front())});
            pages_.pop_front();
        } else {
            wire::encode_ok(out, asks->echo(), wire::Value::object());
        }
        request.reply(out.view());
    }

    std::deque<si::RecoveryListReply> pages_;
    std::deque<std::function<void()>> calls_;
};

struct Listed {
    Pages pages;
    std::vector<std::vector<std::string>> lists;
    CoreListing listing{pages.parts(), "mcs", 1, [this](const mcs::ApplicationsListed& list, Instant) {
                            lists.emplace_back();
                            for (const auto& each : list.held) lists.back().push_back(each.application_id);
                        }};

    void begin_first_page() {
        while (pages.asked.empty() || pages.asked.back() != "RecoveryList ") REQUIRE(pages.turn_once(listing));
    }
    void list() {
        listing.begin();
        CHECK(listing.next_due() == Instant{});
        pages.turn(listing);
        CHECK(listing.next_due() == std::nullopt);
    }
};

using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("rs R-104 a list of several pages comes as one, in a session of its own") {
    Listed world;
    for (int times = 0; times < 2; ++times) {
        world.pages.add("c1", {"a", "b"});
        world.pages.add("c2", {"c"});
        world.pages.add("", {});
        world.list();
    }
    CHECK(world.lists == std::vector<Texts>{{"a", "b", "c"}, {"a", "b", "c"}});
    const Texts once{"Hello", "RecoveryList ", "RecoveryList c1", "RecoveryList c2", "Bye"};
    Texts twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    CHECK(world.pages.asked == twice);
}

TEST_CASE("rs R-104 a list that breaks off says nothing, and the next one begins anew") {
    Listed world;
    world.pages.add("c1", {"a", "b"});
    world.listing.begin();
    SECTION("since the daemon refuses the rest") {
        world.begin_first_page();
        world.pages.refusal = GENERATE(si::ErrorCode::SessionUnknown, si::ErrorCode::Forbidden);
        world.pages.turn(world.listing);
    }
    SECTION("since the registration was lost") {
        world.begin_first_page();
        world.listing.end();
        world.pages.turn(world.listing);
    }
    CHECK(world.lists.empty());
    world.pages.refusal.reset();
    world.pages.add("", {"c"});
    world.list();
    CHECK(world.lists == std::vector<Texts>{{"c"}});
}
