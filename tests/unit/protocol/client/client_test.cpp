// SPDX-License-Identifier: Apache-2.0
#include "protocol/client/client.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include "protocol/client/trace.h"
#include "protocol/wire/codec.h"
#include "tests/support/system/silent_socket.h"
#include "tests/support/system/temp_dir.h"
#include "tests/unit/protocol/transport/fake_daemon.h"

using namespace yk;
using namespace yk::test;
using namespace std::chrono_literals;
using si::ErrorCode;
using wire::Client;
using yk::testing::silent_socket, yk::testing::SocketDescriptor, yk::testing::TempDir;
using Kind = wire::CallError::Kind;
using wire::Value;

namespace {

Answer agree(const Seen&) {
    return Value{{"position", 1}};
}

wire::ClientOptions options_for(const std::string& url) {
    wire::ClientOptions options;
    options.url = url;
    options.client = "test";
    options.timeout = 20s; // a deadline, not a wait
    return options;
}

std::unique_ptr<Client> connected(const wire::ClientOptions& options) {
    auto client = Client::connect(options);
    if (!client) FAIL(client.error().message);
    return std::move(client).value();
}

std::vector<std::uint64_t> seqs(const std::vector<Seen>& requests) {
    std::vector<std::uint64_t> out;
    out.reserve(requests.size());
    for (const Seen& request : requests) out.push_back(request.seq.value_or(0));
    return out;
}

/// Answers the nth request (from 0) with the nth answer, later ones with the last.
auto script(std::vector<Answer> answers) {
    return [answers, next = std::size_t{0}](const Seen&) mutable {
        Answer answer = answers[std::min(next, answers.size() - 1)];
        ++next;
        return answer;
    };
}

using Seqs = std::vector<std::uint64_t>;

/// What a daemon leaves behind that was killed.
void leave_socket(const std::string& path) {
    const SocketDescriptor gone = silent_socket(path);
}

} // namespace

TEST_CASE("4.3 a client says Hello and then uses its session") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), agree};
    auto options = options_for(dir.url("s"));
    options.token = "secret";
    options.capabilities = {"events"};
    const auto client = connected(options);
    CHECK(client->hello()["role"] == "admin");
    const auto hello = daemon.seen("Hello");
    REQUIRE(hello.size() == 1);
    CHECK(hello[0].sid.empty());
    CHECK(hello[0].body == Value::parse(R"({"min":1,"max":1,"client":"test","role":"admin","token":"secret",
                                             "maxMessage":16777216,"capabilities":["events"]})"));
    REQUIRE(client->call("Status").ok());
    const auto status = daemon.seen("Status");
    REQUIRE(status.size() == 1);
    CHECK(status[0].sid == std::string(16, 's'));
    CHECK(status[0].body == Value::object());
    CHECK(status[0].ttl_ms > 0);
    CHECK(status[0].id > hello[0].id);
    client->bye();
    CHECK(daemon.seen("Bye").size() == 1);
}

TEST_CASE("I-330 changes are numbered from 1, reads are not") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), agree};
    const auto client = connected(options_for(dir.url("s")));
    const auto first = client->call("UpdateNode", {{"rmID", "rm"}});
    REQUIRE(first.ok());
    CHECK((*first)["position"] == 1);
    REQUIRE(client->call("Dump").ok());
    REQUIRE(client->call("UpdateAllocation").ok());
    CHECK(seqs(daemon.seen("UpdateNode")) == Seqs{1});
    CHECK(daemon.seen("Dump")[0].seq == std::nullopt);
    CHECK(seqs(daemon.seen("UpdateAllocation")) == Seqs{2});
    CHECK(daemon.seen("UpdateNode")[0].body == Value{{"rmID", "rm"}});
}

TEST_CASE("a message of protocol/si is sent as its kind, and the daemon's waiting comes on top of the time-out") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), agree};
    const auto client = connected(options_for(dir.url("s")));
    si::PollRequest poll;
    poll.rm_id = "rm";
    poll.wait_ms = 250;
    CHECK(wire::EncodedRequest{poll}.wait == 250ms);
    REQUIRE(client->call(poll).ok());
    CHECK(daemon.seen("Poll")[0].body == Value{{"rmID", "rm"}, {"waitMs", 250}});
}

TEST_CASE("a read of MCS adds its waiting to the time-out only where the daemon is asked to wait") {
    si::McsReadRequest read;
    CHECK(wire::EncodedRequest{read}.wait == 0ms);
    read.min_position = "1.2";
    CHECK(wire::EncodedRequest{read}.wait == 5s);
}

TEST_CASE("encoded bodies go through call_raw") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), agree};
    const auto client = connected(options_for(dir.url("s")));
    si::NodeRequest request;
    request.rm_id = "rm";
    const auto reply = client->call_raw("UpdateNode", wire::encoded(request));
    REQUIRE(reply.ok());
    CHECK(*reply == wire::encoded_value({{"position", 1}}));
    CHECK(daemon.seen("UpdateNode")[0].body == Value{{"rmID", "rm"}});
}

TEST_CASE("a refusal comes out with all it says, and the next change asks for its number") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), script({wire::ErrorReply{ErrorCode::Invalid, "no", "rmID", {}, {{"hint", "x"}}},
                                            Value::object()})};
    const auto client = connected(options_for(dir.url("s")));
    const auto refused = client->call("UpdateNode");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == Kind::Refused);
    CHECK(refused.error().code == 107);
    CHECK(refused.error().name == "E_INVALID");
    CHECK(refused.error().message == "no");
    CHECK(refused.error().path == "rmID");
    CHECK(refused.error().details == Value{{"hint", "x"}});
    daemon.set_hello(hello_reply('s', 'b', true, 1)); // the refused request consumed its number (I-333)
    REQUIRE(client->call("UpdateNode").ok());
    CHECK(seqs(daemon.seen("UpdateNode")) == Seqs{1, 2});
    REQUIRE(daemon.seen("Hello").size() == 2);
    CHECK(daemon.seen("Hello")[1].body["resume"].size() == 2);
}

TEST_CASE("I-356 a retryable refusal is sent again with the same number") {
    const TempDir dir;
    const wire::ErrorReply busy{ErrorCode::Busy, "full", "", 1, {}};
    FakeDaemon daemon{dir.url("s"), script({busy, busy, Value::object()})};
    const auto client = connected(options_for(dir.url("s")));
    REQUIRE(client->call("UpdateNode").ok());
    CHECK(seqs(daemon.seen("UpdateNode")) == Seqs{1, 1, 1});
    CHECK(daemon.seen("Hello").size() == 1);
}

TEST_CASE("a daemon that stays busy for longer than there is time ends in its refusal") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), script({wire::ErrorReply{ErrorCode::Busy, "full", "", 60'000, {}}})};
    const auto client = connected(options_for(dir.url("s")));
    const auto refused = client->call("UpdateNode");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == Kind::Refused);
    CHECK(refused.error().name == "E_BUSY");
    CHECK(refused.error().retry_after_ms == 60'000);
    CHECK(daemon.seen("UpdateNode").size() == 1);
}

/// Tries again until there are `enough` reasons for it.
wire::RetryCheck until_noted(std::size_t enough, std::vector<std::string>& reasons) {
    return [enough, &reasons](const std::string& why) {
        reasons.push_back(why);
        return reasons.size() < enough;
    };
}

TEST_CASE("who has had enough of trying again is asked each time, with the reason, and gets the last refusal") {
    const TempDir dir;
    const wire::ErrorReply busy{ErrorCode::Busy, "full", "", 1, {}};
    FakeDaemon daemon{dir.url("s"), script({busy})};
    auto options = options_for(dir.url("s"));
    std::vector<std::string> reasons;
    options.tries_again = until_noted(3, reasons);
    const auto client = connected(options);
    const auto refused = client->call("UpdateNode");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().name == "E_BUSY");
    CHECK(reasons == std::vector<std::string>(3, "full (E_BUSY); trying again"));
    CHECK(daemon.seen("UpdateNode").size() == 3);
}

TEST_CASE("who has had enough of dialling again is asked each time, too") {
    const TempDir dir;
    auto daemon = std::make_unique<FakeDaemon>(dir.url("s"), agree);
    auto options = options_for(dir.url("s"));
    std::vector<std::string> reasons;
    options.tries_again = until_noted(2, reasons);
    const auto client = connected(options);
    daemon.reset();
    const auto began = std::chrono::steady_clock::now();
    const auto lost = client->call("Status");
    REQUIRE_FALSE(lost.ok());
    CHECK(lost.error().kind == Kind::Unreachable);
    CHECK(reasons == std::vector<std::string>(2, "no answer from " + dir.url("s") + "; dialling again"));
    CHECK(std::chrono::steady_clock::now() - began < 10s); // half of the time-out
}

TEST_CASE("a daemon that is busy after a while is not asked again when no time for that is left") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), [](const Seen&) -> Answer {
                          std::this_thread::sleep_for(1s);
                          return wire::ErrorReply{ErrorCode::Busy, "locked", "", 1, {}};
                      }};
    const auto client = connected(options_for(dir.url("s")));
    const auto refused = client->call("UpdateNode", Value::object(), 2500ms);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == Kind::Refused); // and not that nobody knows what came of it
    CHECK(refused.error().name == "E_BUSY");
}

TEST_CASE("I-306 I-324 a cut connection is healed: resume, then the same request with the same number") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), script({Cut{}, Cut{}, Value{{"position", 7}}})};
    const auto client = connected(options_for(dir.url("s")));
    daemon.set_hello(hello_reply('s', 'b', true, 1)); // executed, only the answer was lost
    const auto reply = client->call("UpdateNode", {{"rmID", "rm"}});
    REQUIRE(reply.ok());
    CHECK((*reply)["position"] == 7);
    CHECK(seqs(daemon.seen("UpdateNode")) == Seqs{1, 1, 1});
    CHECK(daemon.seen("Hello").size() == 3);
    REQUIRE(client->call("UpdateNode").ok());
    CHECK(seqs(daemon.seen("UpdateNode")).back() == 2);
}

TEST_CASE("I-260 a change that was cut off by another boot has an unknown outcome, a read is repeated") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), script({Cut{}, Value{{"n", 1}}, Cut{}, Value{{"n", 2}}})};
    const auto client = connected(options_for(dir.url("s")));
    daemon.set_hello(hello_reply('t', 'c'));
    const auto read = client->call("Status");
    REQUIRE(read.ok());
    CHECK((*read)["n"] == 1);
    CHECK(daemon.seen("Status")[1].sid == std::string(16, 't'));
    daemon.set_hello(hello_reply('u', 'd'));
    const auto change = client->call("UpdateNode");
    REQUIRE_FALSE(change.ok());
    CHECK(change.error().kind == Kind::OutcomeUnknown);
    CHECK(daemon.seen("UpdateNode").size() == 1);
    REQUIRE(client->call("UpdateNode").ok()); // the new session begins with 1
    CHECK(seqs(daemon.seen("UpdateNode")) == Seqs{1, 1});
}

TEST_CASE("I-356 a forgotten session is replaced and the request sent again") {
    const TempDir dir;
    const wire::ErrorReply unknown{ErrorCode::SessionUnknown, "who", "", {}, {}};
    FakeDaemon daemon{dir.url("s"), script({Value::object(), unknown, Value::object()})};
    const auto client = connected(options_for(dir.url("s")));
    REQUIRE(client->call("UpdateNode").ok());
    daemon.set_hello(hello_reply('t', 'b'));
    REQUIRE(client->call("UpdateNode").ok());
    const auto updates = daemon.seen("UpdateNode");
    CHECK(seqs(updates) == Seqs{1, 2, 1});
    CHECK(updates[2].sid == std::string(16, 't'));
    CHECK_FALSE(daemon.seen("Hello")[1].body.contains("resume"));
}

TEST_CASE("no answer: a read has timed out, the outcome of a change is unknown") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), script({NoReply{}, NoReply{}, Value::object()})};
    const auto client = connected(options_for(dir.url("s")));
    const auto read = client->call("Status", Value::object(), 300ms);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().kind == Kind::TimedOut);
    const auto change = client->call("UpdateNode", Value::object(), 300ms);
    REQUIRE_FALSE(change.ok());
    CHECK(change.error().kind == Kind::OutcomeUnknown);
    daemon.set_hello(hello_reply('s', 'b', true, 1)); // it was executed after all
    REQUIRE(client->call("UpdateNode").ok());
    CHECK(seqs(daemon.seen("UpdateNode")) == Seqs{1, 2});
}

TEST_CASE("I-331 a change that is sent until it is answered keeps its number, whatever is asked meanwhile") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), script({NoReply{}, Value::object(), Value{{"position", 7}}, Value::object()})};
    auto options = options_for(dir.url("s"));
    options.timeout = 300ms;
    const auto impatient = connected(options);
    const wire::EncodedRequest change{"UpdateNode", Value{{"rmID", "rm"}}};
    const auto cut = impatient->call_in_session(change, false);
    REQUIRE_FALSE(cut.ok());
    CHECK(cut.error().kind == Kind::OutcomeUnknown);
    daemon.set_hello(hello_reply('s', 'b', true, 1)); // it was executed after all
    REQUIRE(impatient->call("Ping").ok());
    const auto again = impatient->call_in_session(change, true);
    REQUIRE(again.ok());
    CHECK((*again)["position"] == 7);
    CHECK(seqs(daemon.seen("UpdateNode")) == Seqs{1, 1});
    REQUIRE(impatient->call_in_session(change, false).ok()); // the next one
    CHECK(seqs(daemon.seen("UpdateNode")) == Seqs{1, 1, 2});
}

TEST_CASE("I-331 a change of a session is not carried out in the next one") {
    const TempDir dir;
    const wire::ErrorReply unknown{ErrorCode::SessionUnknown, "who", "", {}, {}};
    FakeDaemon daemon{dir.url("s"), script({unknown, Value::object()})};
    const auto client = connected(options_for(dir.url("s")));
    const std::string before = client->session_id();
    daemon.set_hello(hello_reply('t', 'b'));
    const wire::EncodedRequest change{"UpdateNode", Value::object()};
    const auto lost = client->call_in_session(change, false);
    REQUIRE_FALSE(lost.ok());
    CHECK(lost.error().kind == Kind::OutcomeUnknown);
    CHECK(daemon.seen("UpdateNode").size() == 1);
    CHECK(client->session_id() != before);
    REQUIRE(client->call_in_session(change, true).ok()); // `again` is about the session before: it has no number here
    CHECK(seqs(daemon.seen("UpdateNode")) == Seqs{1, 1});
}

TEST_CASE("without redials the number of a change that was cut off is asked for before the next one") {
    const TempDir dir;
    auto first = std::make_unique<FakeDaemon>(dir.url("s"), script({NoReply{}}));
    auto options = options_for(dir.url("s"));
    const auto client = connected(options);
    client->set_redials(false);
    std::thread ender{[&] {
        while (first->seen("UpdateNode").empty()) std::this_thread::yield();
        first.reset();
    }};
    const auto cut = client->call("UpdateNode");
    ender.join();
    REQUIRE_FALSE(cut.ok());
    CHECK(cut.error().kind == Kind::OutcomeUnknown);
    FakeDaemon second{dir.url("s"), agree}; // the same daemon, by another socket
    second.set_hello(hello_reply('s', 'b', true, 1));
    REQUIRE(client->call("UpdateAllocation").ok());
    CHECK(seqs(second.seen("UpdateAllocation")) == Seqs{2}); // 1 was carried out
}

TEST_CASE("what the daemon is asked to wait comes on top of the timeout") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), agree};
    const auto client = connected(options_for(dir.url("s")));
    REQUIRE(client->call("Poll", {{"rmID", "rm"}, {"waitMs", 60'000}}, 10s).ok());
    CHECK(daemon.seen("Poll")[0].ttl_ms > 60'000);
}

TEST_CASE("I-305 a request above the daemon's limit is not sent") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), agree};
    const auto client = connected(options_for(dir.url("s")));
    const auto refused = client->call("UpdateNode", {{"rmID", std::string(100'000, 'x')}});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == Kind::TooLarge);
    REQUIRE(client->call("UpdateNode", {{"rmID", std::string(99'000, 'x')}}).ok());
    CHECK(seqs(daemon.seen("UpdateNode")) == Seqs{1});
}

TEST_CASE("an answer that cannot be read is malformed, and so are unknown keys for a strict client (I-312)") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), script({Raw{"\xc1"}, Raw{"\x80"}, Value{{"position", 1}, {"later", 2}}})};
    auto options = options_for(dir.url("s"));
    options.strict = true;
    const auto client = connected(options);
    for (int i = 0; i < 3; ++i) {
        const auto reply = client->call("Sync");
        REQUIRE_FALSE(reply.ok());
        CHECK(reply.error().kind == Kind::Malformed);
    }
    options.strict = false;
    CHECK(connected(options)->call("Sync").ok());
}

TEST_CASE("I-343 with any_role a client takes what it is granted, without it the refusal") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), [](const Seen& request) -> Answer {
                          if (request.body["role"] == "admin")
                              return wire::ErrorReply{ErrorCode::Forbidden, "no", "", {}, {}};
                          return hello_reply('s', 'b');
                      }};
    daemon.set_script_hello();
    auto options = options_for(dir.url("s"));
    connected(options);
    CHECK(daemon.seen("Hello").size() == 2);
    options.any_role = false;
    const auto refused = Client::connect(options);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().name == "E_FORBIDDEN");
}

TEST_CASE("Hello is repeated while the daemon is busy, and given up when it cuts the connection") {
    const TempDir dir;
    FakeDaemon busy{dir.url("a"),
                    script({wire::ErrorReply{ErrorCode::Busy, "full", "", 1, {}}, Cut{}, hello_reply('s', 'b')})};
    busy.set_script_hello();
    connected(options_for(dir.url("a")));
    CHECK(busy.seen("Hello").size() == 3);
    FakeDaemon closing{dir.url("b"), script({Cut{}})};
    closing.set_script_hello();
    const auto refused = Client::connect(options_for(dir.url("b")));
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == Kind::Denied); // B14
    CHECK(refused.error().message.find("not let in") != std::string::npos);
    FakeDaemon silent{dir.url("c"), script({NoReply{}})};
    silent.set_script_hello();
    auto options = options_for(dir.url("c"));
    options.timeout = 50ms;
    const auto unanswered = Client::connect(options);
    REQUIRE_FALSE(unanswered.ok());
    CHECK(unanswered.error().kind == Kind::Unreachable);
}

TEST_CASE("addresses that cannot work are told apart") {
    const TempDir dir;
    const auto message = [](const std::string& url) {
        auto options = options_for(url);
        options.timeout = 50ms;
        const auto client = Client::connect(options);
        REQUIRE_FALSE(client.ok());
        CHECK(client.error().kind == Kind::Unreachable);
        return client.error().message;
    };
    using Catch::Matchers::Contains;
    CHECK_THAT(message(dir.url("none")), Contains("does not exist"));
    std::ofstream{dir.path("file")} << "x";
    CHECK_THAT(message(dir.url("file")), Contains("not a socket") || Contains("non-socket"));
    CHECK_THAT(message("ipc://" + std::string(200, 'x')), Contains("107 bytes"));
    CHECK_THAT(message("http://localhost"), Contains("no address"));
    CHECK_THAT(message("nonsense"), Contains("no address"));
    CHECK_THAT(message("tcp://127.0.0.1:1"), Contains("no daemon answers"));
}

TEST_CASE("B10 an address where nobody listens any more is known at once") {
    const TempDir dir;
    std::string tcp;
    {
        FakeDaemon there{"tcp://127.0.0.1:0", agree};
        tcp = "tcp://127.0.0.1:" + std::to_string(there.port());
    }
    leave_socket(dir.path("s"));
    for (const auto& url : {dir.url("s"), tcp}) {
        const auto begun = std::chrono::steady_clock::now();
        const auto client = Client::connect(options_for(url)); // 20 s
        REQUIRE_FALSE(client.ok());
        CHECK(client.error().kind == Kind::Unreachable);
        CHECK(std::chrono::steady_clock::now() - begun < 5s);
    }
}

TEST_CASE(
    "B14 somebody who takes connections and says nothing is slow or stopped, and no ykd when it says other things") {
    const TempDir dir;
    const SocketDescriptor unresponsive = silent_socket(dir.path("s"));
    auto options = options_for(dir.url("s"));
    options.timeout = 50ms;
    const auto slow = Client::connect(options);
    REQUIRE_FALSE(slow.ok());
    CHECK_THAT(slow.error().message, Catch::Matchers::Contains("slow or stopped"));
    options.timeout = 20s;
    const SocketDescriptor talking = silent_socket(dir.path("web"));
    options.url = dir.url("web");
    std::thread web{[&] {
        const SocketDescriptor peer{::accept(talking.fd, nullptr, nullptr)};
        CHECK(::send(peer.fd, "HTTP/1.1 400", 12, MSG_NOSIGNAL) == 12);
        char byte = 0; // an end with bytes unread would take back what was said
        while (::recv(peer.fd, &byte, 1, 0) > 0) {
        }
    }};
    const auto other = Client::connect(options);
    web.join();
    REQUIRE_FALSE(other.ok());
    CHECK_THAT(other.error().message, Catch::Matchers::Contains("does not answer as a ykd would"));
}

TEST_CASE("a client waits for a daemon that has just been started, if asked to") {
    const TempDir dir;
    auto options = options_for(dir.url("later"));
    options.wait_for_socket = true;
    std::unique_ptr<FakeDaemon> daemon;
    std::thread starter{[&] { daemon = std::make_unique<FakeDaemon>(dir.url("later"), agree); }};
    const auto client = connected(options);
    starter.join();
    CHECK(client->call("Status").ok());
}

TEST_CASE("a daemon that went away is unreachable, and found again when it is back") {
    const TempDir dir;
    auto first = std::make_unique<FakeDaemon>(dir.url("s"), agree);
    const auto client = connected(options_for(dir.url("s")));
    first.reset();
    const auto lost = client->call("UpdateNode", Value::object(), 100ms);
    REQUIRE_FALSE(lost.ok());
    CHECK((lost.error().kind == Kind::Unreachable || lost.error().kind == Kind::OutcomeUnknown));
    FakeDaemon second{dir.url("s"), agree};
    second.set_hello(hello_reply('t', 'c'));
    CHECK(client->call("Status").ok());
}

TEST_CASE("without redials a daemon that went away is unreachable at once") {
    const TempDir dir;
    auto first = std::make_unique<FakeDaemon>(dir.url("s"), agree);
    const auto client = connected(options_for(dir.url("s")));
    CHECK(client->boot_id() == std::string(16, 'b'));
    client->set_redials(false);
    first.reset();
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 2; ++i) {
        const auto lost = client->call("Status");
        REQUIRE_FALSE(lost.ok());
        CHECK(lost.error().kind == Kind::Unreachable);
    }
    CHECK(std::chrono::steady_clock::now() - began < 10s); // half of the time-out
    FakeDaemon second{dir.url("s"), [](const Seen& request) -> Answer {
                          if (request.sid != std::string(16, 't'))
                              return wire::ErrorReply{ErrorCode::SessionUnknown, "who", "", {}, {}};
                          return Value::object();
                      }};
    second.set_hello(hello_reply('t', 'c'));
    CHECK(client->call("Status").ok());
    CHECK(client->boot_id() == std::string(16, 'c'));
}

TEST_CASE("a call that waits for an answer ends when its user wants to stop") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), script({NoReply{}, Value::object()})};
    std::atomic<bool> stop{false};
    auto options = options_for(dir.url("s"));
    options.stopped = [&stop] { return stop.load(); };
    const auto client = connected(options);
    std::thread stopper{[&] {
        while (daemon.seen("Status").empty()) std::this_thread::yield();
        stop = true;
    }};
    const auto began = std::chrono::steady_clock::now();
    const auto stopped = client->call("Status");
    stopper.join();
    REQUIRE_FALSE(stopped.ok());
    CHECK(stopped.error().kind == Kind::Stopped);
    CHECK(std::chrono::steady_clock::now() - began < 10s);
    stop = false;
    CHECK(client->call("Status").ok()); // the session goes on
}

TEST_CASE("I-323 an attached client uses the session of its owner, and reports its loss") {
    const TempDir dir;
    FakeDaemon daemon{dir.url("s"), [](const Seen& request) -> Answer {
                          if (request.kind == "Sync")
                              return wire::ErrorReply{ErrorCode::SessionUnknown, "who", "", {}, {}};
                          return Value::object();
                      }};
    const auto owner = connected(options_for(dir.url("s")));
    auto attached = Client::attach(*owner);
    REQUIRE(attached.ok());
    REQUIRE((*attached)->call("Poll").ok());
    CHECK(daemon.seen("Poll")[0].sid == std::string(16, 's'));
    const auto lost = (*attached)->call("Sync");
    REQUIRE_FALSE(lost.ok());
    CHECK(lost.error().name == "E_SESSION_UNKNOWN");
    CHECK(daemon.seen("Hello").size() == 1);
}

TEST_CASE("tcp works like ipc") {
    FakeDaemon daemon{"tcp://127.0.0.1:0", agree};
    const auto client = connected(options_for("tcp://127.0.0.1:" + std::to_string(daemon.port())));
    CHECK(client->call("UpdateNode").ok());
}

TEST_CASE("A9 a directory in /tmp is trusted when it is this user's alone") {
    const TempDir dir;
    CHECK(wire::check_private(dir.path("none")).ok());
    REQUIRE(::mkdir(dir.path("own").c_str(), 0700) == 0);
    CHECK(wire::check_private(dir.path("own")).ok());
    REQUIRE(::symlink(dir.path("own").c_str(), dir.path("link").c_str()) == 0);
    CHECK_FALSE(wire::check_private(dir.path("link")).ok());
    REQUIRE(::chmod(dir.path("own").c_str(), 0777) == 0);
    CHECK_FALSE(wire::check_private(dir.path("own")).ok());
    if (::getuid() != 0) return;
    REQUIRE(::mkdir(dir.path("foreign").c_str(), 0700) == 0);
    REQUIRE(::chown(dir.path("foreign").c_str(), 65534, 65534) == 0);
    const auto foreign = wire::check_private(dir.path("foreign"));
    REQUIRE_FALSE(foreign.ok());
    CHECK_THAT(foreign.error().message, Catch::Matchers::Contains("belongs to uid 65534"));
    CHECK(wire::check_default_address("ipc:///run/ykd/ykd.sock").ok());
}

TEST_CASE("I-302 the default address is the first default path that exists") {
    const TempDir dir;
    const bool has_system_daemon = std::filesystem::exists("/run/ykd/ykd.sock");
    setenv("XDG_RUNTIME_DIR", dir.path("").c_str(), 1);
    CHECK(wire::default_address() == "ipc:///run/ykd/ykd.sock");
    std::ofstream{dir.path("ykd.sock")} << "x";
    if (!has_system_daemon) CHECK(wire::default_address() == "ipc://" + dir.path("") + "/ykd.sock");
    unsetenv("XDG_RUNTIME_DIR");
}

TEST_CASE("I-342 traces show bytes as hexadecimal text and no token") {
    const std::string hello = wire::encoded_value({{"sid", Value::binary({0, 255})}, {"body", {{"token", "secret"}}}});
    CHECK(wire::message_text(hello) == R"({"sid":"00ff","body":{"token":"***"}})");
    CHECK(wire::message_text("\xc1").find("no message") != std::string::npos);
}

TEST_CASE("A10 traces hand on nothing that a terminal obeys") {
    const std::string name = wire::encoded_value({{"a\xc2\x9b", "\x1b\xe2\x80\xae\x7f\n"}});
    CHECK(wire::message_text(name) == R"({"a\u009b":"\u001b\u202e\u007f\n"})");
}
