// SPDX-License-Identifier: Apache-2.0
#include "ykd/session/access.h"

#include <catch2/catch.hpp>

#include <unistd.h>

#include "libcore/config/checksum.h"
#include "ykd/session/session.h"

using namespace yk;
using namespace yk::service;
using Transport = wire::Peer::Transport;

namespace {

constexpr uid_t kStranger = 4'000'000'000U;

wire::Peer peer(Transport transport, uid_t uid = 0, gid_t gid = 4'000'000'001U) {
    wire::Peer made;
    made.transport = transport;
    made.uid = uid;
    made.gid = gid;
    made.address = transport == Transport::Ipc ? "uid " + std::to_string(uid) : "10.0.0.1";
    return made;
}

wire::Peer connected(std::uint32_t connection) {
    wire::Peer made = peer(Transport::Tcp);
    made.connection = connection;
    return made;
}

} // namespace

TEST_CASE("I-343 ipc peers: the daemon's user and root are admins, others what the settings say, else observers") {
    DaemonSettings settings;
    settings.peers = {{kStranger, std::nullopt, si::Role::Rm, "a-*"},
                      {std::nullopt, 4'000'000'001U, si::Role::Observer, "*"}};
    Access access(settings);
    CHECK(access.authenticate(peer(Transport::Ipc, ::geteuid()), "")->role == si::Role::Admin);
    CHECK(access.authenticate(peer(Transport::Ipc, 0), "")->role == si::Role::Admin);
    const auto known = access.authenticate(peer(Transport::Ipc, kStranger), "");
    CHECK(known->role == si::Role::Rm);
    CHECK(known->rms == "a-*");
    CHECK(access.authenticate(peer(Transport::Ipc, kStranger - 1), "")->role == si::Role::Observer);
}

TEST_CASE("I-412 a session of role rm sees the RMs of its pattern, one of another role sees all") {
    const auto sees = [](si::Role role, const std::string& rm_id) {
        return Session({}, {"uid 5", si::Role::Rm, "spark-*"}, role, 1).may_see(rm_id);
    };
    CHECK(sees(si::Role::Rm, "spark-1"));
    CHECK_FALSE(sees(si::Role::Rm, "flink"));
    CHECK(sees(si::Role::Observer, "flink"));
    CHECK(Session({}, {"uid 0", si::Role::Admin, "*"}, si::Role::Admin, 1).may_see("flink"));
}

TEST_CASE("I-340 who may connect over ipc") {
    DaemonSettings settings;
    const Access closed(settings);
    CHECK(closed.admits(peer(Transport::Ipc, ::geteuid())) == wire::Admittance::Privileged);
    CHECK(closed.admits(peer(Transport::Ipc, kStranger)) == wire::Admittance::Refused);
    settings.peers = {{kStranger, std::nullopt, si::Role::Observer, "*"}};
    CHECK(Access(settings).admits(peer(Transport::Ipc, kStranger)) != wire::Admittance::Refused);
    settings.peers.clear();
    settings.socket_mode = 0660;
    CHECK(Access(settings).admits(peer(Transport::Ipc, kStranger, ::getegid())) != wire::Admittance::Refused);
    CHECK(Access(settings).admits(peer(Transport::Ipc, kStranger)) == wire::Admittance::Refused);
}

TEST_CASE("I-341 I-342 tcp needs a token; over ipc one may raise the role") {
    DaemonSettings settings;
    Access access(settings);
    const auto tokens = parse_tokens("# tokens\nrm spark-* " + config::checksum("secret") + "  # of spark\n", "tokens");
    REQUIRE(tokens.ok());
    access.set_rules({}, *tokens);
    CHECK_FALSE(access.authenticate(peer(Transport::Tcp), "").ok());
    CHECK_FALSE(access.authenticate(peer(Transport::Tls), "").ok());
    CHECK_FALSE(access.authenticate(peer(Transport::Tcp), "wrong").ok());
    const auto grant = access.authenticate(peer(Transport::Tcp), "secret");
    REQUIRE(grant.ok());
    CHECK(grant->role == si::Role::Rm);
    CHECK(grant->rms == "spark-*");
    CHECK(grant->name.find("secret") == std::string::npos);
    CHECK(access.authenticate(peer(Transport::Ipc, kStranger), "secret")->role == si::Role::Rm);
    CHECK(access.authenticate(peer(Transport::Ipc, 0), "secret")->role == si::Role::Admin);
}

TEST_CASE("I-342 a token file with a fault is refused with its line") {
    const std::string digest = config::checksum("x");
    CHECK(parse_tokens("admin * " + digest + "\nking * " + digest, "t").error().where == "t:2");
    CHECK_FALSE(parse_tokens("rm * abc", "t").ok());
    const auto narrow_admin = parse_tokens("rm foo* " + digest + "\nadmin foo* " + digest, "t");
    REQUIRE_FALSE(narrow_admin.ok());
    CHECK(narrow_admin.error().where == "t:2");
    CHECK(narrow_admin.error().message.starts_with("an admin may do everything, whatever the pattern"));
    CHECK_FALSE(parse_tokens("rm " + digest, "t").ok());
    CHECK(parse_tokens("\n  # nothing\n", "t")->empty());
}

TEST_CASE(
    "I-342 the fifth failure of an address within a minute, I-310 the tenth undecodable message of a connection") {
    Access access{DaemonSettings{}};
    for (int i = 0; i < 4; ++i) CHECK_FALSE(access.authenticate(peer(Transport::Tcp), "").error().cut);
    CHECK_FALSE(access.authenticate(peer(Transport::Ipc, kStranger), "guess").error().cut);
    CHECK(access.authenticate(peer(Transport::Tcp), "").error().cut);
    Connections connections;
    for (int i = 0; i < 9; ++i) CHECK_FALSE(connections.count_garbage(connected(3)));
    CHECK(connections.count_garbage(connected(3)));
    connections.closed(3);
    CHECK_FALSE(connections.count_garbage(connected(3)));
}

TEST_CASE("A7 I-342 after five wrong tokens of an address none is compared for a minute, not even the right one") {
    Access access{DaemonSettings{}};
    access.set_rules({}, *parse_tokens("rm * " + config::checksum("secret"), "tokens"));
    for (int i = 0; i < 10; ++i) CHECK_FALSE(access.authenticate(peer(Transport::Tcp), "").ok()); // no guesses
    CHECK(access.authenticate(peer(Transport::Tcp), "secret").ok());
    for (int i = 0; i < 5; ++i) CHECK_FALSE(access.authenticate(peer(Transport::Tcp), std::to_string(i)).ok());
    const auto refused = access.authenticate(peer(Transport::Tcp), "secret");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().cut);
    CHECK(refused.error().message ==
          "5 wrong tokens came from 10.0.0.1 within a minute: no other is looked at until it is over");
    CHECK(access.authenticate(peer(Transport::Ipc, kStranger), "secret").ok()); // another address
}

TEST_CASE("I-323 a tcp connection has the identity of its last Hello, before one of the first session it uses") {
    Connections connections;
    CHECK(connections.claim_identity(connected(1), "a"));
    CHECK(connections.claim_identity(connected(1), "a"));
    CHECK_FALSE(connections.claim_identity(connected(1), "b"));
    connections.set_identity(connected(1), "b");
    CHECK(connections.claim_identity(connected(1), "b"));
}

TEST_CASE("A10 nothing is noted for a connection whose end was told already") {
    Connections connections;
    const wire::Peer late = connected(4);
    CHECK_FALSE(connections.count_garbage(late));
    late.gone->store(true); // as the server does, before it tells
    connections.closed(4);
    CHECK(connections.count_garbage(late)); // of a worker that was slower
    CHECK(connections.claim_identity(late, "a"));
    connections.set_identity(late, "a");
    CHECK(connections.size() == 0);
}

TEST_CASE("patterns are shell globs of the whole rmID") {
    CHECK(matches("*", "rm:1"));
    CHECK(matches("spark-?", "spark-1"));
    CHECK_FALSE(matches("spark", "spark-1"));
}
