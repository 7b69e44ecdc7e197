// SPDX-License-Identifier: Apache-2.0
#include "protocol/transport/sp_frames.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace yk::wire;

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMost = 1U << 20;

std::string frame(std::string_view rest, bool typed = true) {
    return std::string(FrameHead(typed, rest.size()).bytes()) + std::string(rest);
}

std::string request(std::string_view text, std::string_view head = "\x80\0\0\7"sv, bool typed = true) {
    return frame(std::string(head) + std::string(text), typed);
}

/// What a reader makes of bytes that arrive in pieces of `step`: messages, then `!N` for a fault.
std::vector<std::string> read(std::string_view bytes, std::size_t step = 1U << 30, bool typed = true) {
    FrameReader reader(kReqGreeting, typed, kMost);
    std::vector<std::string> found;
    while (!bytes.empty()) {
        const auto free_space = reader.free_space();
        REQUIRE_FALSE(free_space.empty());
        const std::size_t count = std::min({step, bytes.size(), free_space.size()});
        std::copy_n(bytes.begin(), count, free_space.begin());
        reader.took(count);
        bytes.remove_prefix(count);
        while (true) {
            const auto next = reader.next(true);
            if (next.fault) return found.push_back("!" + std::to_string(static_cast<int>(*next.fault))), found;
            if (!next.message) break;
            found.push_back(std::string(next.message->head()) + "|" + std::string(next.message->body()));
        }
    }
    return found;
}

const std::string kHead{"\x80\0\0\7", 4};

} // namespace

TEST_CASE("SP frames: messages of any size come whole, whatever pieces their bytes come in") {
    const std::string large(100'000, 'l');
    for (const bool typed : {true, false}) {
        std::string bytes{kReqGreeting};
        bytes += request("one", kHead, typed) + request("", kHead, typed) + request(large, kHead, typed) +
                 request("last", kHead, typed);
        const std::vector<std::string> wanted{kHead + "|one", kHead + "|", kHead + "|" + large, kHead + "|last"};
        for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, std::size_t{1} << 20})
            CHECK(read(bytes, step, typed) == wanted);
    }
}

TEST_CASE("SP frames: the numbers in front of a request end with the one whose highest bit is set") {
    const std::string hops{"\0\0\0\1\0\0\0\2\x80\0\0\3", 12};
    CHECK(read(std::string(kReqGreeting) + request("x", hops)) == std::vector<std::string>{hops + "|x"});
    CHECK(read(std::string(kReqGreeting) + frame("\0\0\0\1"sv)) == std::vector<std::string>{"!1"});
    CHECK(read(std::string(kReqGreeting) + frame(std::string(400, '\0'))) == std::vector<std::string>{"!1"});
}

TEST_CASE("SP frames: what is no greeting, no frame or too long is told at once") {
    CHECK(read("GET / HTTP/1.1\r\n") == std::vector<std::string>{"!0"});
    CHECK(read("\0SP\0\0\x50\0\0"sv) == std::vector<std::string>{"!0"});
    CHECK(read("\0SQ"sv) == std::vector<std::string>{"!0"});
    CHECK(read(std::string(kReqGreeting) + "\2") == std::vector<std::string>{"!1"});
    CHECK(read(std::string(kReqGreeting) + frame("abc")) == std::vector<std::string>{"!1"});
    CHECK(read(std::string(kReqGreeting) + std::string(FrameHead(true, kMost + 1).bytes())) ==
          std::vector<std::string>{"!2"});
    CHECK(read(std::string(kReqGreeting) + std::string(FrameHead(true, ~std::uint64_t{0}).bytes())) ==
          std::vector<std::string>{"!2"});
}

TEST_CASE("SP frames: a large message is begun only with permission") {
    FrameReader reader(kReqGreeting, true, kMost);
    const std::string bytes = std::string(kReqGreeting) + request(std::string(10'000, 'x'));
    std::copy_n(bytes.begin(), 4096, reader.free_space().begin());
    reader.took(4096);
    CHECK(reader.next(false).wanted == 10'004);
    CHECK(reader.is_greeted());
    CHECK(reader.begun() == 0);
    CHECK(reader.next(false).wanted == 10'004);
    CHECK_FALSE(reader.next(true).message);
    CHECK(reader.begun() == 10'004);
    CHECK(reader.free_space().size() == bytes.size() - 4096);
}

TEST_CASE("SP frames: a message may be taken while the next bytes are on their way") {
    FrameReader reader(kReqGreeting, true, kMost);
    const auto put = [&reader](std::span<char> free_space, std::string_view bytes) {
        REQUIRE(bytes.size() <= free_space.size());
        std::copy(bytes.begin(), bytes.end(), free_space.begin());
        reader.took(bytes.size());
    };
    put(reader.free_space(), std::string(kReqGreeting) + request("one"));
    auto free_space = reader.free_space();
    CHECK(reader.next(true).message->body() == "one"); // all is read, and yet `free_space` holds
    put(free_space, request("two"));
    CHECK(reader.next(true).message->body() == "two");
    const std::string large(6000, 'l');
    const std::string frame_of_large = request(large);
    put(reader.free_space(), std::string_view(frame_of_large).substr(0, 100));
    free_space = reader.free_space();
    CHECK_FALSE(reader.next(true).message); // begun, while bytes of it come to the small buffer
    CHECK(reader.begun() == 6004);
    put(free_space, std::string_view(frame_of_large).substr(100, 3000));
    free_space = reader.free_space();
    put(free_space, std::string_view(frame_of_large).substr(3100));
    free_space = reader.free_space(); // behind a whole message that was not taken yet
    CHECK(reader.next(true).message->body() == large);
    put(free_space, request("three"));
    CHECK(reader.next(true).message->body() == "three");
}
