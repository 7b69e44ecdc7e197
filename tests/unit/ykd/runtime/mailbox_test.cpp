// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/mailbox.h"

#include <catch2/catch.hpp>

#include <memory>
#include <thread>

using namespace yk;

namespace {

struct Entry {
    int number = 0;
    std::shared_ptr<std::vector<std::string>> said = nullptr;
};

void settle(Entry& entry, std::optional<std::uint64_t> position) {
    entry.said->push_back(position ? std::to_string(entry.number) + " at " + std::to_string(*position)
                                   : std::to_string(entry.number) + " gave up");
}

void hand_back(Entry& entry, bool accepted) {
    entry.said->push_back(std::to_string(entry.number) + (accepted ? " was accepted" : " was waiting"));
}

struct Box {
    Mailbox<Entry> mailbox{MailboxLimits{10, 1000}};
    std::shared_ptr<std::vector<std::string>> said = std::make_shared<std::vector<std::string>>();
    std::vector<Entry> control;
    std::vector<Mailbox<Entry>::Work> work;
    SteadyClock::time_point later = SteadyClock::now() + std::chrono::hours{1};

    PushOutcome push(int number, Load load) {
        Entry entry{number, said};
        std::uint64_t position = 0;
        return mailbox.push_work(entry, load, later, position);
    }
    std::vector<int> take(std::uint64_t most = 1000) {
        mailbox.take(most, control, work, settle);
        std::vector<int> numbers;
        for (const auto& entry : work) numbers.push_back(entry.item.number);
        return numbers;
    }
};

} // namespace

TEST_CASE("I-100 S-440 work comes out in the order in which it was accepted, with positions without gaps") {
    Box box;
    CHECK(box.push(1, {1, 1}) == PushOutcome::Accepted);
    CHECK(box.push(2, {1, 1}) == PushOutcome::Accepted);
    CHECK(box.take() == std::vector<int>{1, 2});
    CHECK(box.work[0].position == 1);
    CHECK(box.work[1].position == 2);
    CHECK(box.mailbox.last_position() == 2);
}

TEST_CASE("control goes before the work that waits") {
    Box box;
    box.push(1, {1, 1});
    Entry entry{7, box.said};
    CHECK(box.mailbox.push_control(entry));
    CHECK(box.take() == std::vector<int>{1});
    REQUIRE(box.control.size() == 1);
    CHECK(box.control[0].number == 7);
}

TEST_CASE("I-336 a full mailbox lets waiting work in when there is room, in order") {
    Box box;
    CHECK(box.push(1, {6, 10}) == PushOutcome::Accepted);
    CHECK(box.push(2, {6, 10}) == PushOutcome::Waiting);
    CHECK(box.push(3, {1, 10}) == PushOutcome::Waiting); // would fit, but 2 was first
    CHECK(box.mailbox.elements() == 6);
    CHECK(box.take() == std::vector<int>{1});
    CHECK(*box.said == std::vector<std::string>{"2 at 2", "3 at 3"});
    CHECK(box.take() == std::vector<int>{2, 3});
    CHECK(box.mailbox.elements() == 0);
}

TEST_CASE("I-336 what waits longer than its time is given up") {
    Box box;
    box.push(1, {10, 10});
    box.later = SteadyClock::now();
    CHECK(box.push(2, {1, 10}) == PushOutcome::Waiting);
    box.mailbox.expire(box.later, settle);
    CHECK(*box.said == std::vector<std::string>{"2 gave up"});
    CHECK(box.take() == std::vector<int>{1});
    CHECK(box.take().empty());
}

TEST_CASE("I-336 a request larger than the bound is taken when the queue is empty, and refused behind a full line") {
    Box box;
    CHECK(box.push(1, {5000, 5000}) == PushOutcome::Accepted);
    CHECK(box.push(2, {1, 900}) == PushOutcome::Waiting);
    CHECK(box.push(3, {1, 200}) == PushOutcome::Refused);
    CHECK(box.take() == std::vector<int>{1});
}

TEST_CASE("one turn takes a bounded number of elements, but at least one piece") {
    Box box;
    box.push(1, {5, 1});
    box.push(2, {4, 1});
    CHECK(box.take(3) == std::vector<int>{1});
    CHECK(box.take(3) == std::vector<int>{2});
}

TEST_CASE("a waiting consumer is woken by work, by control and by wake()") {
    Box box;
    const auto soon = SteadyClock::now() + std::chrono::seconds{20};
    std::thread producer([&] { box.push(1, {1, 1}); });
    box.mailbox.wait_until(soon);
    producer.join();
    CHECK(box.take() == std::vector<int>{1});
    box.mailbox.wake();
    box.mailbox.wait_until(soon);
    CHECK(SteadyClock::now() < soon);
}

TEST_CASE("A4 a closed mailbox hands back what is in it, in order, and takes nothing more") {
    Box box;
    Entry control{7, box.said};
    CHECK(box.mailbox.push_control(control));
    CHECK(box.push(1, {6, 10}) == PushOutcome::Accepted);
    CHECK(box.push(2, {6, 10}) == PushOutcome::Waiting);
    box.mailbox.close(hand_back);
    CHECK(*box.said == std::vector<std::string>{"7 was accepted", "1 was accepted", "2 was waiting"});
    CHECK(box.mailbox.elements() == 0);
    CHECK(box.push(3, {1, 1}) == PushOutcome::Closed);
    Entry late{8, box.said};
    CHECK_FALSE(box.mailbox.push_control(late));
    CHECK(late.said == box.said); // left as it was
    CHECK(box.take().empty());
    CHECK(box.control.empty());
}
