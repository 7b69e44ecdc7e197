// SPDX-License-Identifier: Apache-2.0
// Calls to an RM: their time, their end, their items in the stream (interface.md 4.9).

#include "ykd/runtime/call_watch.h"

#include <catch2/catch.hpp>

#include "ykd/runtime/callback_writer.h"
#include "ykd/runtime/outbound_stream.h"

using namespace yk;
using std::chrono::seconds;

namespace {

constexpr SteadyClock::time_point kStart{};

std::uint64_t ended(const CallWatch& watch, CallKind kind, CallEnd end) {
    return watch.read().ended[static_cast<std::size_t>(kind)][static_cast<std::size_t>(end)];
}

} // namespace

TEST_CASE("I-376 a call about nodes may take 2 s, one about victims 5 s") {
    CallWatch calls;
    calls.set_limits(seconds{2}, seconds{5});
    CHECK(!calls.next());
    calls.started(1, CallKind::PreemptionPredicates, kStart);
    calls.started(2, CallKind::Predicates, kStart + seconds{1});
    CHECK(calls.next() == kStart + seconds{3});
    CHECK(calls.take_expired(kStart + seconds{3} - std::chrono::nanoseconds{1}).empty());
    CHECK(calls.take_expired(kStart + seconds{3}) == std::vector<std::uint64_t>{2});
    CHECK(calls.next() == kStart + seconds{5});
    CHECK(calls.take_expired(kStart + seconds{9}) == std::vector<std::uint64_t>{1});
    CHECK(!calls.next());
    CHECK(ended(calls, CallKind::Predicates, CallEnd::TimedOut) == 1);
}

TEST_CASE("I-379 ten calls in a row that time out, and none that is answered between") {
    CallWatch calls;
    calls.set_limits(seconds{2}, seconds{5});
    for (std::uint64_t call = 1; call <= 9; ++call) calls.started(call, CallKind::Predicates, kStart);
    CHECK(calls.take_expired(kStart + seconds{2}).size() == 9);
    CHECK(!calls.unanswered());
    SECTION("a tenth") {
        calls.started(10, CallKind::Predicates, kStart);
        CHECK(calls.take_expired(kStart + seconds{2}).size() == 1);
        CHECK(calls.unanswered());
        calls.forgive();
        CHECK(!calls.unanswered());
    }
    SECTION("an answer") {
        calls.started(10, CallKind::Predicates, kStart);
        calls.answered(10, false, true, kStart + seconds{1});
        calls.started(11, CallKind::Predicates, kStart);
        CHECK(calls.take_expired(kStart + seconds{2}).size() == 1);
        CHECK(!calls.unanswered());
    }
}

TEST_CASE("I-375 answers are counted by how they came") {
    CallWatch calls;
    calls.set_limits(seconds{2}, seconds{5});
    for (std::uint64_t call = 1; call <= 3; ++call) calls.started(call, CallKind::Predicates, kStart);
    calls.answered(2, false, true, kStart + std::chrono::milliseconds{5});
    calls.answered(1, true, true, kStart);
    calls.answered(3, false, false, kStart); // its ask has gone
    calls.answered(1, false, true, kStart);  // again
    calls.late();
    CHECK(ended(calls, CallKind::Predicates, CallEnd::Answered) == 1);
    CHECK(ended(calls, CallKind::Predicates, CallEnd::Failed) == 1);
    CHECK(ended(calls, CallKind::Predicates, CallEnd::Late) == 3);
    CHECK(calls.take_expired(kStart + seconds{9}).empty());
    CHECK(calls.read().seconds[0].sum_ns == 5'000'000);
}

TEST_CASE("I-375 a call is an item with call and ttl; it goes undelivered when its time is over") {
    CallbackWriter writer;
    CallbackWriter::Interest interest;
    interest.predicate_ttl = seconds{2};
    interest.preemption_ttl = seconds{5};
    writer.set_interest(interest);
    const std::array<std::string_view, 2> nodes{"n1", "n2"};
    writer.predicates_wanted({7, "[rm]default", "app", "k", nodes, true});
    writer.preemption_wanted({8, "[rm]default", "app", "k", "n1", nodes, 1});
    const auto started = writer.take_calls();
    REQUIRE(started.size() == 2);
    CHECK(started[1].call == 8);
    CHECK(started[1].kind == CallKind::PreemptionPredicates);
    std::vector<OutItem> items = writer.take();
    REQUIRE(items.size() == 2);
    CHECK(items[0].kind == si::item::kPredicates);
    CHECK(items[0].item_class == ItemClass::Expiring);
    CHECK(items[0].ttl == 2000);
    CHECK(items[1].ttl == 5000);

    OutboundStream stream{StreamLimits{}};
    stream.open(1, std::nullopt);
    stream.append(std::move(items));
    stream.expire(7);
    stream.expire(7);
    CHECK(stream.status().backlog == 1);
    stream.expire(99);
    stream.expire(8);
    CHECK(stream.status().backlog == 0);
    CHECK(stream.status().bytes == 0);
}

TEST_CASE("I-376 storing a configuration may take 10 s, a state dump 5 s; only calls about asks suspend the RM") {
    CallWatch calls;
    calls.set_limits(seconds{2}, seconds{5});
    calls.started(1, CallKind::ConfigStore, kStart);
    CHECK(calls.next() == kStart + seconds{10});
    for (std::uint64_t call = 2; call <= 12; ++call) calls.started(call, CallKind::StateDump, kStart);
    CHECK(calls.take_expired(kStart + seconds{5}).size() == 11);
    CHECK(!calls.unanswered());
    CHECK(calls.take_expired(kStart + seconds{10}) == std::vector<std::uint64_t>{1});
}

TEST_CASE("4.8 a configuration to store stays in the stream when its time is over, a state dump does not") {
    CallbackWriter writer;
    writer.config_to_store(7, "text");
    writer.state_wanted(8);
    OutboundStream stream{StreamLimits{}};
    stream.open(1, std::nullopt);
    stream.append(writer.take());
    stream.expire(7);
    stream.expire(8);
    CHECK(stream.status().backlog == 1);
    const auto started = writer.take_calls();
    REQUIRE(started.size() == 2);
    CHECK(started[0].kind == CallKind::ConfigStore);
    CHECK(started[1].kind == CallKind::StateDump);
}
