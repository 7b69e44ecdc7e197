// SPDX-License-Identifier: Apache-2.0
#include "ykd/request/user_lookup.h"

#include <catch2/catch.hpp>

#include <future>
#include <mutex>

#include "ykd/daemon/daemon.h"

using namespace yk;
using namespace yk::service;

namespace {

constexpr auto kSearchTime = std::chrono::seconds{30};

/// A connection whose peer gets no reply.
struct NoReplies final : wire::ReplyTarget {
    const std::shared_ptr<const wire::Peer> somebody = std::make_shared<const wire::Peer>();
    [[nodiscard]] const std::shared_ptr<const wire::Peer>& peer() const noexcept override { return somebody; }
    void reply(const wire::SpMessage&, wire::TransportBudget::Charge, std::span<const std::string_view>) override {}
    void drop(wire::TransportBudget::Charge) override {}
    void give_up(wire::TransportBudget::Charge, const char*) override {}
    void trust() override {}
};

struct Lookups {
    Daemon daemon{DaemonSettings{}, "test"};
    std::mutex mutex;
    std::vector<std::string> asked;
    UserLookup users{daemon.parts().deadlines, daemon.parts().workers, daemon.parts().name_service,
                     [this](const std::string& user) -> GroupsAnswer {
                         const std::lock_guard lock(mutex);
                         asked.push_back(user);
                         return std::vector<std::string>{user + "s"};
                     }};
    std::promise<void> hangs; // until a value is set

    Lookups() {
        auto begun = std::make_shared<std::promise<void>>();
        daemon.parts().name_service.post("somebody",
                                         [begun, wait = std::make_shared<std::future<void>>(hangs.get_future())] {
                                             begun->set_value();
                                             wait->wait();
                                         });
        begun->get_future().wait();
    }
    CallPtr call(si::Kind kind) {
        auto made = std::make_shared<Call>(daemon.parts().calls,
                                           wire::Request{std::make_shared<NoReplies>(), wire::SpMessage{}, {}});
        made->kind = kind;
        made->mutating = si::info(kind).mutating;
        made->drop();
        return made;
    }
    /// How many were looked up, and whether these were all.
    std::future<std::pair<std::size_t, bool>> begin(const CallPtr& call, std::vector<std::string> names) {
        auto promise = std::make_shared<std::promise<std::pair<std::size_t, bool>>>();
        users.look_up(call, std::move(names), [promise](const LookedUp& answers, bool complete) {
            promise->set_value({answers.size(), complete});
        });
        return promise->get_future();
    }
};

} // namespace

TEST_CASE("C-364 nobody to look up: no thread is waited for") {
    Lookups lookups;
    auto done = lookups.begin(lookups.call(si::Kind::UpdateApplication), {});
    REQUIRE(done.wait_for(std::chrono::seconds{0}) == std::future_status::ready);
    CHECK(done.get() == std::pair{std::size_t{0}, true});
    lookups.hangs.set_value();
}

TEST_CASE("A8 those who ask take turns with the name service, user by user") {
    Lookups lookups;
    auto many = lookups.begin(lookups.call(si::Kind::UpdateApplication), {"a1", "a2", "a3", "a4"});
    auto more = lookups.begin(lookups.call(si::Kind::UpdateApplication), {"b"});
    auto explained = lookups.begin(lookups.call(si::Kind::RegisterResourceManager), {"c"});
    lookups.hangs.set_value();
    CHECK(many.get() == std::pair{std::size_t{4}, true});
    CHECK(more.get() == std::pair{std::size_t{1}, true});
    CHECK(explained.get() == std::pair{std::size_t{1}, true});
    // Two of one kind share its turns; "a2" was not waiting yet when "b" was taken up.
    CHECK(std::find(lookups.asked.begin(), lookups.asked.end(), "c") - lookups.asked.begin() <= 1);
    CHECK(std::find(lookups.asked.begin(), lookups.asked.end(), "b") - lookups.asked.begin() <= 2);
}

TEST_CASE("A8 a request ends in its time, also when the name service hangs") {
    Lookups lookups;
    const CallPtr call = lookups.call(si::Kind::UpdateApplication);
    call->envelope.ttl_ms = 50;
    auto ended = lookups.begin(call, {"a1", "a2"});
    REQUIRE(ended.wait_for(kSearchTime) == std::future_status::ready);
    CHECK(ended.get() == std::pair{std::size_t{0}, false});
    lookups.hangs.set_value();
    lookups.daemon.parts().name_service.stop();
    CHECK(lookups.asked.empty());
}
