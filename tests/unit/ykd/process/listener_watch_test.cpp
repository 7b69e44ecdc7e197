// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/listener_watch.h"

#include <catch2/catch.hpp>

using namespace yk::service;

TEST_CASE(
    "A1 a listener that does not answer, or loses descriptors, is told after the second look, and when it is over") {
    std::string wrong;
    bool full = false, turns_away = false;
    std::int64_t lost = 0;
    std::uint64_t accepted = 5;
    const std::vector<WatchedListener> listeners{{"ipc://s", [&](std::string_view) { return wrong; },
                                                  [&] { return full; }, [&] { return lost; }, [&] { return accepted; },
                                                  [&] { return turns_away; }}};
    std::map<std::string, std::string> reported;
    const auto report = [&](const std::string& key, const std::string& sentence) { reported[key] = sentence; };
    ListenerWatch watch;
    watch.look(listeners, report);
    CHECK(reported["listener ipc://s"].empty());

    wrong = "ipc://s does not answer";
    lost = 17;
    watch.look(listeners, report);
    CHECK(watch.all_answer()); // slow once is not deaf
    CHECK(reported["descriptors ipc://s"].empty());
    watch.look(listeners, report);
    CHECK_FALSE(watch.all_answer());
    CHECK(reported["listener ipc://s"] == "ipc://s does not answer; a restart helps");
    CHECK(reported["descriptors ipc://s"].find("17 descriptors belong to no connection") != std::string::npos);

    for (int look = 0; look < 5; ++look) { // a storm of connections: nng is still closing some of them
        accepted += 3;
        watch.look(listeners, report);
        CHECK(reported["descriptors ipc://s"].empty());
    }
    watch.look(listeners, report);
    watch.look(listeners, report);
    CHECK(reported["descriptors ipc://s"].find("17 descriptors belong to no connection") != std::string::npos);

    full = true; // then others are turned away, too
    lost = 16;
    watch.look(listeners, report);
    CHECK(watch.all_answer());
    CHECK(reported["listener ipc://s"].empty());
    CHECK(reported["descriptors ipc://s"].empty());

    turns_away = true;
    watch.look(listeners, report);
    CHECK(reported["places ipc://s"].empty()); // once, for a moment
    watch.look(listeners, report);
    CHECK(reported["places ipc://s"].find("turned away, as all places are taken") != std::string::npos);
    turns_away = false;
    watch.look(listeners, report);
    CHECK(reported["places ipc://s"].empty());
}

TEST_CASE("the watch's question is its own") {
    const ListenerWatch one, other;
    std::string question;
    const auto ask = [&](std::string_view asked) {
        question = asked;
        return std::string{};
    };
    ListenerWatch watch;
    watch.look({{"u", ask, [] { return false; }, [] { return std::int64_t{0}; }, [] { return std::uint64_t{0}; },
                 [] { return false; }}},
               [](const auto&, const auto&) {});
    CHECK(watch.is_question(question));
    CHECK_FALSE(one.is_question(question));
    CHECK_FALSE(watch.is_question(""));
}
