// SPDX-License-Identifier: Apache-2.0
#ifdef YK_WITH_NATS
#include "protocol/brokers/jetstream/event_subject.h"

#include <catch2/catch.hpp>

#include "protocol/brokers/jetstream/publish_reply.h"

namespace yk::rs {

TEST_CASE("rs R-164 an id is encoded where a subject cannot hold it, and read back") {
    const std::pair<const char*, const char*> known[] = {{"plain-1_A", "plain-1_A"},    {"a.b", "a%2Eb"},
                                                         {"a b*>", "a%20b%2A%3E"},      {"100%", "100%25"},
                                                         {"t\tn\n\x7f", "t%09n%0A%7F"}, {"\xc3\xa4", "\xc3\xa4"}};
    for (const auto& [id, text] : known) {
        CHECK(percent_encoded(id) == text);
        CHECK(percent_decoded(text) == id);
    }
    CHECK(percent_decoded("a%2eb") == "a.b");
    std::string every;
    for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
    CHECK(percent_decoded(percent_encoded(every)) == every);
    for (const char* text : {"%", "%2", "a%zz", "%2G"}) CHECK_FALSE(percent_decoded(text).has_value());
}

TEST_CASE("rs R-164 subjects have the name of the stream, a kind and an id") {
    const auto parts = split_subject("gns.node.a%2Eb", "gns");
    REQUIRE(parts.has_value());
    CHECK(parts->kind == "node");
    CHECK(parts->id == "a%2Eb");
    for (const char* subject : {"gns", "gns.", "gns.node", "gnsx.node.a", "other.node.a"})
        CHECK_FALSE(split_subject(subject, "gns").has_value());
    CHECK(is_stream_name("gns-1_X"));
    for (const char* name : {"", "a.b", "a b", "a*", "a>"}) CHECK_FALSE(is_stream_name(name));
    CHECK_FALSE(is_stream_name(std::string(65, 'a')));
}

TEST_CASE("an address is shown without its password") {
    CHECK(shown_address("nats://h:4222") == "nats://h:4222");
    CHECK(shown_address("nats://me:se@cret@h:4222") == "nats://h:4222");
    CHECK(shown_address("tls://token@h,nats://u:p@i:1,j") == "tls://h,nats://i:1,j");
    CHECK(shown_address("me:secret@h") == "h");
    CHECK(shown_address("").empty());
}

TEST_CASE("rs R-167 what a stream answers to a message") {
    const auto stored = read_publish_reply(R"({"stream":"gns","seq":7})");
    CHECK(stored.fault.empty());
    CHECK_FALSE(stored.is_duplicate);
    CHECK(read_publish_reply(R"({"stream":"gns","seq":7,"duplicate":true})").is_duplicate);
    const auto overtaken = read_publish_reply(
        R"({"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 8"},"stream":"gns","seq":0})");
    CHECK(overtaken.is_overtaken);
    CHECK(overtaken.fault == "wrong last sequence: 8");
    const auto full = read_publish_reply(R"({"error":{"code":503,"err_code":10047,"description":"no\u001b space"}})");
    CHECK_FALSE(full.is_overtaken);
    CHECK(full.fault == "no? space");
    for (const char* text : {"", "x", "[]", "{}", R"({"seq":"7"})", R"({"error":5})"})
        CHECK_FALSE(read_publish_reply(text).fault.empty());
}

} // namespace yk::rs
#endif
