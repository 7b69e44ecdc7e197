// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/envelope.h"

#include <catch2/catch.hpp>

#include "tests/unit/protocol/wire/bytes.h"

using namespace yk;
using namespace yk::test;
using si::ErrorCode;

namespace {

const std::string kSidPair = text_of("sid") + hex("c4 10") + std::string(16, 's');

wire::RequestFault fault_of(std::string_view message) {
    auto request = wire::decode_request(message);
    REQUIRE_FALSE(request.ok());
    return std::move(request).error();
}

struct Case {
    const char* what;
    std::string pairs;
    std::size_t count;
    ErrorCode code;
    const char* path;
};

} // namespace

TEST_CASE("4.2 a request comes out as it went in, its body untouched") {
    const std::string body = packed(R"({"rmID":"rm","x":[1,2]})");
    wire::Buffer out;
    wire::RequestHeader header{1, "UpdateNode", 42, kSid, 7, 2500};
    wire::encode_request(out, header, body);
    const auto request = wire::decode_request(out.view());
    REQUIRE(request.ok());
    CHECK(request->v == 1);
    CHECK(request->kind == "UpdateNode");
    CHECK(request->id == 42);
    CHECK(request->sid == kSid);
    CHECK(request->seq == 7);
    CHECK(request->ttl_ms == 2500);
    CHECK(request->body.bytes() == body);
    CHECK(request->body.bytes().data() > out.data()); // a view of the message
    CHECK(request->body.bytes().data() < out.data() + out.size());
}

TEST_CASE("4.2 absent and nil keys have their defaults, ttl is cut, unknown keys are ignored (I-312, I-313)") {
    const std::string short_one =
        packed(R"({"v":1,"kind":"Hello","id":18446744073709551615,"seq":null,"body":null,"later":{"x":[1]}})");
    const auto request = wire::decode_request(short_one);
    REQUIRE(request.ok());
    CHECK(request->id == ~std::uint64_t{0});
    CHECK_FALSE(request->sid);
    CHECK_FALSE(request->seq);
    CHECK(request->ttl_ms == 10000);
    CHECK(request->body.bytes() == "\x80");
    const std::string long_one = packed(R"({"body":{"a":1},"ttl":999999,"id":1,"kind":"Hello","v":1})");
    const auto long_ttl = wire::decode_request(long_one);
    REQUIRE(long_ttl.ok());
    CHECK(long_ttl->ttl_ms == 120000);
    CHECK(long_ttl->body.bytes() == packed(R"({"a":1})")); // a body that is not last
}

TEST_CASE("4.2 I-314 I-317 faults of envelope keys name the key") {
    const std::string v = text_of("v") + hex("01");
    const std::string kind = text_of("kind") + text_of("Ping");
    const std::string id = text_of("id") + hex("05");
    const std::vector<Case> cases{
        {"no v", kind + id + kSidPair, 3, ErrorCode::MissingField, "v"},
        {"no kind", v + id + kSidPair, 3, ErrorCode::MissingField, "kind"},
        {"empty kind", v + text_of("kind") + text_of("") + id + kSidPair, 4, ErrorCode::MissingField, "kind"},
        {"no id", v + kind + kSidPair, 3, ErrorCode::MissingField, "id"},
        {"no sid", v + kind + id, 3, ErrorCode::MissingField, "sid"},
        {"nil sid", v + kind + id + text_of("sid") + hex("c0"), 4, ErrorCode::MissingField, "sid"},
        {"v is a text", text_of("v") + text_of("1") + kind + id + kSidPair, 4, ErrorCode::Type, "v"},
        {"v is negative", text_of("v") + hex("ff") + kind + id + kSidPair, 4, ErrorCode::Type, "v"},
        {"v is a float", text_of("v") + hex("cb 3f f0 00 00 00 00 00 00") + kind + id + kSidPair, 4, ErrorCode::Type,
         "v"},
        {"kind is binary", v + text_of("kind") + hex("c4 01 61") + id + kSidPair, 4, ErrorCode::Type, "kind"},
        {"kind is not UTF-8", v + text_of("kind") + text_of("\xff") + id + kSidPair, 4, ErrorCode::Invalid, "kind"},
        {"id is nil", v + kind + text_of("id") + hex("c0") + kSidPair, 4, ErrorCode::MissingField, "id"},
        {"sid is a text", v + kind + id + text_of("sid") + text_of(std::string(16, 's')), 4, ErrorCode::Type, "sid"},
        {"sid too short", v + kind + id + text_of("sid") + hex("c4 02 00 00"), 4, ErrorCode::Type, "sid"},
        {"sid too long", v + kind + id + text_of("sid") + hex("c4 11") + std::string(17, 's'), 4, ErrorCode::Type,
         "sid"},
        {"seq is a boolean", v + kind + id + kSidPair + text_of("seq") + hex("c3"), 5, ErrorCode::Type, "seq"},
        {"ttl beyond 32 bits", v + kind + id + kSidPair + text_of("ttl") + hex("cf 00 00 00 01 00 00 00 00"), 5,
         ErrorCode::Type, "ttl"},
        {"body is a list", v + kind + id + kSidPair + text_of("body") + hex("90"), 5, ErrorCode::Type, "body"},
        {"body is a text", v + kind + id + kSidPair + text_of("body") + text_of("x"), 5, ErrorCode::Type, "body"},
        {"first fault wins", text_of("v") + hex("c3") + text_of("id") + hex("c3") + kind + kSidPair, 4, ErrorCode::Type,
         "v"},
    };
    for (const Case& c : cases) {
        INFO(c.what);
        const auto fault = fault_of(map_of(c.count) + c.pairs);
        CHECK(fault.error.code == c.code);
        CHECK(fault.error.path == c.path);
        CHECK_FALSE(fault.error.message.empty());
    }
}

TEST_CASE("4.2 the echo holds what stands before the fault and is of the right type, else 1, empty, 0") {
    const std::string v = text_of("v") + hex("02");
    const std::string kind = text_of("kind") + text_of("Ping");
    const std::string id = text_of("id") + hex("05");
    const std::string broken = text_of("body") + hex("91 c1");
    const auto echo = [](std::string_view bytes) { return fault_of(bytes).echo; };
    const auto check = [](const wire::Echo& got, std::uint64_t version, std::string_view name, std::uint64_t number) {
        CHECK(got.v == version);
        CHECK(got.kind == name);
        CHECK(got.id == number);
    };
    check(echo(""), 1, "", 0);
    check(echo(hex("90")), 1, "", 0);
    check(echo(hex("c1")), 1, "", 0);
    check(echo(hex("df ff ff ff ff")), 1, "", 0);
    check(echo(map_of(4) + v + kind + id + broken), 2, "Ping", 5);
    check(echo(map_of(4) + v + kind + broken + id), 2, "Ping", 0);
    check(echo(map_of(4) + broken + v + kind + id), 1, "", 0);
    check(echo(map_of(3) + v + kind + id + hex("00")), 2, "Ping", 5); // trailing byte
    check(echo(map_of(4) + v + kind + id + id), 2, "Ping", 5);        // duplicate
    check(echo(map_of(4) + v + id + text_of("id") + hex("06") + kind), 2, "", 5);
    check(echo(map_of(4) + text_of("v") + text_of("x") + kind + id + broken), 1, "Ping", 5);
    check(echo(map_of(4) + v + text_of("kind") + hex("07") + id + broken), 2, "", 5);
    check(echo(map_of(4) + v + kind + text_of("id") + hex("ff") + broken), 2, "Ping", 0);
    check(echo(map_of(3) + v + kind + id), 2, "Ping", 5); // E_MISSING_FIELD of sid
    const std::string deep = text_of("x") + hex("91") * 40 + hex("c0");
    check(echo(map_of(4) + v + kind + id + deep), 2, "Ping", 5); // E_LIMIT
    std::string many;                                            // a map too large for the quick check of keys
    for (int i = 0; i < 20; ++i) many += text_of("k" + std::to_string(i)) + hex("01");
    check(echo(map_of(25) + v + kind + many + id + many.substr(0, 4) + broken), 2, "Ping", 5);
}

TEST_CASE("a request cut or changed at any byte never crashes, and is refused or read") {
    const std::string whole = request("UpdateNode", packed(R"({"rmID":"rm","nodes":[{"nodeID":"n","action":1}]})"));
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK(fault_of(std::string_view{whole}.substr(0, size)).error.code == ErrorCode::Decode);
    std::size_t read = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int byte = 0; byte < 256; ++byte) {
            std::string changed = whole;
            changed[at] = static_cast<char>(byte);
            const auto request = wire::decode_request(changed);
            if (!request) CHECK_FALSE(request.error().error.message.empty());
            read += request.ok() ? 1U : 0U;
        }
    }
    CHECK(read > whole.size()); // the unchanged ones at least
}

TEST_CASE("4.2 replies: ok with a body, dup, and errors with name, path and details") {
    const wire::Echo echo{1, "Ping", 9};
    wire::Buffer out;
    wire::encode_ok(out, echo, wire::Value{{"now", 5}}, true);
    auto reply = wire::decode_reply(out.view());
    REQUIRE(reply.ok());
    CHECK(reply->ok);
    CHECK(reply->dup);
    CHECK(reply->v == 1);
    CHECK(reply->kind == "Ping");
    CHECK(reply->id == 9);
    CHECK(reply->body.bytes() == packed(R"({"now":5})"));

    out.clear();
    wire::encode_error(out, echo, {ErrorCode::Busy, "too much", "asks[3]", 25, {{"expected", 4}}});
    reply = wire::decode_reply(out.view());
    REQUIRE(reply.ok());
    CHECK_FALSE(reply->ok);
    REQUIRE(reply->err);
    CHECK(reply->err->code == 400);
    CHECK(reply->err->name == "E_BUSY");
    CHECK(reply->err->message == "too much");
    CHECK(reply->err->path == "asks[3]");
    CHECK(reply->err->retryable);
    CHECK(reply->err->retry_after_ms == 25);
    CHECK(reply->err->details == wire::Value{{"expected", 4}});

    out.clear();
    wire::encode_error(out, echo, {ErrorCode::Internal, std::string(5000, 'x'), "", std::nullopt, {}});
    reply = wire::decode_reply(out.view());
    REQUIRE(reply.ok());
    CHECK(reply->err->message.size() == 4096); // messages are cut at 4 KiB (I-006)
    CHECK_FALSE(reply->err->retryable);
}

TEST_CASE("replies that are none are refused") {
    for (const char* json :
         {R"({"v":1,"kind":"Ping","id":1})", R"({"ok":1})", R"({"ok":false})", R"({"ok":false,"err":[]})",
          R"({"ok":false,"err":{"code":"x"}})", R"({"ok":true,"body":[]})", R"({"ok":true,"id":-1})"}) {
        INFO(json);
        CHECK_FALSE(wire::decode_reply(packed(json)).ok());
    }
    CHECK_FALSE(wire::decode_reply("").ok());
    const std::string unknown = packed(R"({"ok":true,"new":1})");
    CHECK(wire::decode_reply(unknown).ok());
    const auto strict = wire::decode_reply(unknown, true); // unknown keys are errors (I-312)
    REQUIRE_FALSE(strict.ok());
    CHECK(strict.error().path == "new");
}

TEST_CASE("4.8 items carry number, kind, time and, for calls, call and ttl") {
    wire::Buffer out;
    wire::Packer packer{out};
    wire::encode_item(packer, {5, "Notice", -3, std::nullopt, std::nullopt}, "\x80");
    CHECK(out.view() == packed(R"({"n":5,"kind":"Notice","at":-3,"body":{}})"));
    out.clear();
    wire::encode_item(packer, {6, "Predicates", 1, 17, 2000}, "\x80");
    CHECK(out.view() == packed(R"({"n":6,"kind":"Predicates","at":1,"call":17,"ttl":2000,"body":{}})"));
}
