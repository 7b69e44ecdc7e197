// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/outbound_stream.h"

#include <catch2/catch.hpp>

#include "protocol/wire/body_reader.h"

using namespace yk;

namespace {

OutItem item(const std::string& text, ItemClass item_class = ItemClass::Reliable) {
    OutItem made;
    made.kind = item_class == ItemClass::CountedLoss ? si::item::kSendEvent : si::item::kNotice;
    made.item_class = item_class;
    wire::Packer packer(made.body);
    packer.map(1);
    packer.field("t", text);
    return made;
}

std::vector<OutItem> items(const std::vector<std::string>& texts) {
    std::vector<OutItem> made;
    for (const std::string& text : texts) made.push_back(item(text));
    return made;
}

/// Notes what it was told: `1=a 2=b` or the name of the refusal.
class Asker final : public Poller {
public:
    explicit Asker(std::uint64_t acknowledged, std::uint32_t most = 1000, std::uint32_t bytes = 1U << 20) {
        epoch = 1;
        ack = acknowledged;
        max_items = most;
        max_bytes = bytes;
    }
    void answer(PollAnswer given) override {
        wire::Buffer map;
        wire::Packer packer(map);
        packer.map(1);
        packer.key("items");
        packer.list(given.items);
        packer.raw(given.list.view());
        const wire::Value value = wire::decode_value(wire::scan_body(map.view()).value());
        received = "";
        for (const auto& one : value["items"])
            received += (received.empty() ? "" : " ") + one["n"].dump() + "=" + one["body"]["t"].get<std::string>();
        backlog = given.backlog;
        congested = given.congested;
        answered = true;
    }
    void refuse(PollRefusal refusal) override {
        received = si::name(refusal.code);
        answered = true;
    }
    [[nodiscard]] std::uint32_t connection() const override { return 5; }
    [[nodiscard]] bool is_gone() const override { return gone; }
    bool gone = false;

    std::string received;
    std::uint64_t backlog = 0;
    bool congested = false;
    bool answered = false;
};

std::string poll(OutboundStream& stream, std::uint64_t ack, std::uint32_t most = 1000, std::uint32_t bytes = 1U << 20) {
    auto asker = std::make_shared<Asker>(ack, most, bytes);
    stream.poll(asker, false);
    return asker->received;
}

struct Stream {
    OutboundStream stream;
    explicit Stream(StreamLimits limits = {}) : stream(limits) { stream.open(1, std::nullopt); }
    OutboundStream* operator->() { return &stream; }
    OutboundStream& operator*() { return stream; }
};

} // namespace

TEST_CASE("I-360 I-361 items are numbered at first delivery and delivered again until acknowledged") {
    Stream s;
    s->append(items({"a", "b", "c"}));
    CHECK(poll(*s, 0, 2) == "1=a 2=b");
    CHECK(poll(*s, 0) == "1=a 2=b 3=c");
    CHECK(poll(*s, 2) == "3=c");
    CHECK(poll(*s, 3).empty());
    CHECK(s->status().next == 4);
}

TEST_CASE("I-361 an acknowledgement below the last is old, beyond the delivered is future") {
    Stream s;
    s->append(items({"a", "b"}));
    poll(*s, 0);
    poll(*s, 1);
    CHECK(poll(*s, 0) == "E_ACK_OLD");
    CHECK(poll(*s, 3) == "E_ACK_FUTURE");
    CHECK(poll(*s, 1) == "2=b");
}

TEST_CASE("I-362 a poll is parked until there is something, or its wait is over") {
    Stream s;
    auto asker = std::make_shared<Asker>(0);
    s->poll(asker, true);
    CHECK_FALSE(asker->answered);
    s->append(items({"a"}));
    CHECK(asker->received == "1=a");
    auto idle = std::make_shared<Asker>(1);
    s->poll(idle, true);
    s->wait_over(idle.get());
    CHECK(idle->answered);
    CHECK(idle->received.empty());
}

TEST_CASE("I-363 a second poll supersedes the parked one") {
    Stream s;
    auto first = std::make_shared<Asker>(0), second = std::make_shared<Asker>(0);
    s->poll(first, true);
    s->poll(second, true);
    CHECK(first->received == "E_SUPERSEDED");
    s->append(items({"a"}));
    CHECK(second->received == "1=a");
}

TEST_CASE("I-364 maxBytes bounds a reply; a larger item is sent alone") {
    Stream s;
    s->append(items({std::string(500, 'x'), "b"}));
    CHECK(poll(*s, 0, 1000, 100) == "1=" + std::string(500, 'x'));
    CHECK(poll(*s, 1, 1000, 100) == "2=b");
}

TEST_CASE("the backlog counts what is behind the last item of the reply") {
    Stream s;
    s->append(items({"a", "b", "c"}));
    auto asker = std::make_shared<Asker>(0, 1U);
    s->poll(asker, false);
    CHECK(asker->backlog == 2);
}

TEST_CASE("an undelivered container state is replaced by a newer one of the same allocation, without a gap") {
    Stream s;
    const auto state = [](const std::string& text, const std::string& key) {
        OutItem made = item(text, ItemClass::LatestWins);
        made.key = key;
        return made;
    };
    std::vector<OutItem> batch;
    batch.push_back(state("old", "k"));
    batch.push_back(item("between"));
    batch.push_back(state("other", "l"));
    batch.push_back(state("new", "k"));
    s->append(std::move(batch));
    CHECK(poll(*s, 0) == "1=new 2=between 3=other");
    std::vector<OutItem> more;
    more.push_back(state("newest", "k"));
    s->append(std::move(more));
    CHECK(poll(*s, 3) == "4=newest");
}

TEST_CASE("event batches go first when the stream is half full, and are counted") {
    Stream s(StreamLimits{10, 1U << 20});
    std::vector<OutItem> batch;
    batch.push_back(item("events", ItemClass::CountedLoss));
    batch.back().events = {7, 100, 106};
    for (int i = 0; i < 6; ++i) batch.push_back(item("x"));
    s->append(std::move(batch));
    const EventSpan lost = s->take_lost();
    CHECK(lost.records == 7);
    CHECK(lost.first_id == 100);
    CHECK(lost.last_id == 106);
    CHECK(poll(*s, 0) == "1=x 2=x 3=x 4=x 5=x 6=x");
}

TEST_CASE("I-370 congested at three quarters, relieved below half; I-371 broken beyond the limit") {
    Stream s(StreamLimits{100, 1U << 20});
    bool relieved = false;
    s->set_listener([&] { relieved = true; });
    CHECK(s->append(items(std::vector<std::string>(74, "x"))) == Pressure::Crowded);
    CHECK(s->append(items({"x"})) == Pressure::Congested);
    auto asker = std::make_shared<Asker>(0);
    s->poll(asker, false);
    CHECK(asker->congested);
    poll(*s, 24);
    CHECK_FALSE(relieved);
    poll(*s, 60);
    CHECK(relieved);
    CHECK(s->pressure() == Pressure::Easing);
    CHECK(s->append(items(std::vector<std::string>(80, "x"))) == Pressure::Congested);
    CHECK(s->append(items(std::vector<std::string>(6, "x"))) == Pressure::Broken);
    CHECK(poll(*s, 75) == "E_RESYNC_REQUIRED");
}

TEST_CASE("I-371 what comes at once breaks no stream that was not congested, and little beside it does not either") {
    Stream s(StreamLimits{100, 1U << 20});
    CHECK(s->append(items(std::vector<std::string>(1000, "x"))) == Pressure::Congested);
    CHECK(s->append(items(std::vector<std::string>(25, "y"))) == Pressure::Congested); // a quarter of the limit
    poll(*s, 0);
    poll(*s, 1000);
    CHECK(s->append(items(std::vector<std::string>(20, "z"))) == Pressure::Easing);
    CHECK(s->append(items(std::vector<std::string>(70, "z"))) == Pressure::Congested);
    CHECK(s->append(items(std::vector<std::string>(30, "z"))) == Pressure::Broken); // the limits are what they were
    Stream of_bytes(StreamLimits{100, 1000});
    CHECK(of_bytes->append(items({std::string(5000, 'x')})) == Pressure::Congested);
    CHECK(of_bytes->append(items({std::string(1000, 'x')})) == Pressure::Broken);
}

TEST_CASE("I-125 a new epoch starts at 1 and forgets the old items") {
    Stream s;
    s->append(items({"a"}));
    CHECK(poll(*s, 0) == "1=a");
    s->open(2, std::nullopt);
    s->append(items({"b"}));
    auto asker = std::make_shared<Asker>(0);
    asker->epoch = 2;
    s->poll(asker, false);
    CHECK(asker->received == "1=b");
    CHECK(s->status().epoch == 2);
}

TEST_CASE("A4 a poll of the epoch before takes nothing of this one and disturbs nobody") {
    Stream s;
    auto former = std::make_shared<Asker>(0);
    s->poll(former, true);
    s->open(2, std::nullopt);
    CHECK(former->received == "E_SUPERSEDED");
    auto parked = std::make_shared<Asker>(0);
    parked->epoch = 2;
    s->poll(parked, true);
    CHECK(poll(*s, 0) == "E_STREAM_EPOCH");
    CHECK_FALSE(parked->answered);
    s->append(items({"b"}));
    CHECK(parked->received == "1=b");
}

TEST_CASE("I-379 a poll that is watched for calls the listener, once") {
    Stream s;
    int called = 0;
    s->set_listener([&] { ++called; });
    poll(*s, 0);
    CHECK(called == 0);
    s->watch_next_poll();
    CHECK(poll(*s, 7) == "E_ACK_FUTURE"); // not taken
    CHECK(called == 0);
    poll(*s, 0);
    poll(*s, 0);
    CHECK(called == 1);
}

TEST_CASE("I-387 a detached stream acknowledges by itself and keeps the last items readable") {
    OutboundStream stream{{}};
    stream.open(1, 2);
    stream.append(items({"a", "b", "c"}));
    const auto log = stream.read_log(0, 10, 1U << 20);
    CHECK(log.items == 2);
    CHECK(log.next == 3);
    CHECK(stream.read_log(3, 10, 1U << 20).items == 0);
    CHECK(stream.status().next == 4);
    CHECK(stream.drained());
}

TEST_CASE("a parked poll of a vanished connection is forgotten and its items stay") {
    Stream s;
    auto gone = std::make_shared<Asker>(0);
    s->poll(gone, true);
    s->disconnected(5);
    s->append(items({"a"}));
    CHECK_FALSE(gone->answered);
    CHECK(s->drained()); // nobody is there to fetch it
    CHECK(poll(*s, 0) == "1=a");
}

TEST_CASE("A1 the poll of a connection that has ended is not parked") {
    Stream stream;
    auto late = std::make_shared<Asker>(0);
    late->gone = true;
    stream->poll(late, true);
    CHECK(late->answered);
    CHECK_FALSE(stream->status().poll_parked);
    CHECK(stream->drained());
}

TEST_CASE("I-263 when the stream has ended a poll gets what is left, then the end") {
    Stream s;
    s->append(items({"last"}));
    s->finish();
    CHECK(poll(*s, 0) == "1=last");
    CHECK(poll(*s, 1) == "E_SHUTTING_DOWN");
}
