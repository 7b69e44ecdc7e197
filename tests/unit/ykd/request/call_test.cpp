// SPDX-License-Identifier: Apache-2.0
#include "ykd/request/call.h"

#include <catch2/catch.hpp>

#include <new>
#include <stdexcept>

#include "protocol/wire/envelope.h"
#include "ykd/daemon/daemon.h"
#include "ykd/runtime/workers.h"

using namespace yk;
using namespace yk::service;

namespace {

/// A connection that keeps the last reply.
struct LastReply final : wire::ReplyTarget {
    const std::shared_ptr<const wire::Peer> somebody = std::make_shared<const wire::Peer>();
    std::string bytes;

    [[nodiscard]] const std::shared_ptr<const wire::Peer>& peer() const noexcept override { return somebody; }
    void reply(const wire::SpMessage&, wire::TransportBudget::Charge,
               std::span<const std::string_view> parts) override {
        bytes.clear();
        for (const std::string_view part : parts) bytes += part;
    }
    void drop(wire::TransportBudget::Charge) override {}
    void give_up(wire::TransportBudget::Charge, const char*) override {}
    void trust() override {}
};

/// With what error a request is answered whose work throws.
template <class Thrown>
wire::ReplyEnvelope::Err answer_after(si::Kind kind, Thrown thrown) {
    Daemon daemon{DaemonSettings{}, "test"};
    Workers workers(1, [](const char*) {});
    const auto target = std::make_shared<LastReply>();
    auto call = std::make_shared<Call>(daemon.parts().calls, wire::Request{target, wire::SpMessage{}, {}});
    call->kind = kind;
    call->kind_known = true;
    call->mutating = si::info(kind).mutating;
    REQUIRE(workers.run_here({"uid 1", 1}, [call = std::move(call), thrown] { throw thrown; }));
    const auto reply = wire::decode_reply(target->bytes);
    REQUIRE(reply.ok());
    REQUIRE(reply->err);
    return *reply->err;
}

} // namespace

TEST_CASE("A10 a read for which a worker has no memory may come again") {
    const auto error = answer_after(si::Kind::Dump, std::bad_alloc{});
    CHECK(error.name == "E_BUSY");
    CHECK(error.retryable);
    CHECK(error.retry_after_ms == 1000);
}

TEST_CASE("A10 a change for which a worker has no memory may be half done, so it does not come again") {
    CHECK(answer_after(si::Kind::UpdateNode, std::bad_alloc{}).name == "E_INTERNAL");
}

TEST_CASE("a read that a worker drops for another reason is a bug, also after one that lacked memory") {
    CHECK(answer_after(si::Kind::Dump, std::runtime_error{"a bug"}).name == "E_INTERNAL");
    CHECK_FALSE(Workers::lacked_memory());
}
