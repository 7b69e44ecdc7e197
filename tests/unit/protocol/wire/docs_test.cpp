// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <fstream>

#include "protocol/wire/codec.h"
#include "tests/unit/protocol/wire/bytes.h"

using namespace yk;
using namespace yk::test;

namespace {

/// The blocks of hexadecimal bytes of docs/protocol.md.
std::vector<std::string> blocks() {
    std::ifstream file{YK_SOURCE_DIR "/docs/protocol.md"};
    std::vector<std::string> found;
    bool is_inside = false;
    for (std::string line; std::getline(file, line);) {
        const bool is_fence = line.rfind("```", 0) == 0;
        if (is_fence && !is_inside) found.emplace_back();
        if (is_fence) is_inside = !is_inside;
        if (is_inside && !is_fence) found.back() += line + " ";
    }
    for (std::string& block : found) block = hex(block);
    return found;
}

/// The msgpack of a frame on ipc, whose size and request number are checked.
std::string message_of(const std::string& frame, char number) {
    REQUIRE(frame.size() > 13);
    CHECK(frame.substr(0, 8) == hex("01 00 00 00 00 00 00 00"));
    CHECK(static_cast<unsigned char>(frame[8]) == frame.size() - 9);
    CHECK(frame.substr(9, 3) == hex("80 00 00"));
    CHECK(frame[12] == number);
    return frame.substr(13);
}

} // namespace

TEST_CASE("docs/protocol.md: the worked example is what the codec reads and writes") {
    const auto examples = blocks();
    REQUIRE(examples.size() == 6);
    CHECK(examples[0] == hex("00 53 50 00 00 30 00 00 00 53 50 00 00 31 00 00"));

    const std::string hello = message_of(examples[1], 1);
    const auto request = wire::decode_request(hello);
    REQUIRE(request.ok());
    const auto greeting = wire::decode<si::HelloRequest>(request->body);
    REQUIRE(greeting.ok());
    CHECK(greeting->client == "demo");
    CHECK(greeting->role == "rm");

    const std::string welcome = message_of(examples[2], 1);
    const auto welcomed = wire::decode_reply(welcome);
    REQUIRE(welcomed.ok());
    CHECK(wire::decode_value(welcomed->body)["sid"].get_binary().front() == 0x10);

    const std::string update = message_of(examples[3], 2);
    const auto node = wire::decode_request(update);
    REQUIRE(node.ok());
    CHECK(node->seq == 1);
    const auto nodes = wire::decode<si::NodeRequest>(node->body);
    REQUIRE(nodes.ok());
    CHECK(nodes->nodes.at(0).schedulable_resource == si::Resources{{"memory", 1000}, {"vcore", 1000}});
    wire::Buffer written;
    wire::encode_request(written, {1, "UpdateNode", 2, node->sid, 1, std::nullopt}, node->body.bytes());
    CHECK(written.view() == update);

    wire::Buffer accepted;
    wire::encode_ok(accepted, {1, "UpdateNode", 2}, wire::Value{{"position", 1}});
    CHECK(accepted.view() == message_of(examples[4], 2));

    const auto refused =
        wire::decode<si::NodeRequest>(wire::scan_body(packed(R"({"rmID":"rm:1","nodes":[{"action":1}]})")).value());
    REQUIRE_FALSE(refused.ok());
    wire::Buffer refusal;
    wire::encode_error(refusal, {1, "UpdateNode", 2}, wire::error_reply(refused.error()));
    CHECK(refusal.view() == message_of(examples[5], 2));
}
