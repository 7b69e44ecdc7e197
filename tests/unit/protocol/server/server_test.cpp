// SPDX-License-Identifier: Apache-2.0
#include "protocol/server/server.h"

#include <catch2/catch.hpp>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "protocol/client/probe.h"
#include "protocol/server/own_sockets.h"
#include "protocol/server/server_connection.h"
#include "protocol/transport/ipc_path.h"
#include "protocol/transport/sp_frames.h"
#include "tests/support/comes_true.h"
#include "tests/support/system/temp_dir.h"

using namespace yk::wire;
using namespace yk::testing;

namespace {

/// Keeps requests until somebody takes them.
class Inbox {
public:
    void put(Request request) {
        const std::lock_guard lock(mutex_);
        requests_.push_back(std::move(request));
        bell_.notify_all();
    }
    Request take() {
        std::unique_lock lock(mutex_);
        REQUIRE(bell_.wait_for(lock, std::chrono::seconds{20}, [this] { return !requests_.empty(); }));
        Request first = std::move(requests_.front());
        requests_.erase(requests_.begin());
        return first;
    }
    std::vector<Request> take_all(int count) {
        std::vector<Request> requests;
        requests.reserve(static_cast<std::size_t>(count));
        while (count-- > 0) requests.push_back(take());
        return requests;
    }
    std::optional<Request> take_within(std::chrono::milliseconds time) {
        std::unique_lock lock(mutex_);
        if (!bell_.wait_for(lock, time, [this] { return !requests_.empty(); })) return std::nullopt;
        Request first = std::move(requests_.front());
        requests_.erase(requests_.begin());
        return first;
    }

private:
    std::mutex mutex_;
    std::condition_variable bell_;
    std::vector<Request> requests_;
};

/// A peer that says what it likes.
class RawPeer {
public:
    explicit RawPeer(const std::string& path, std::string_view then = "", std::string_view greeting = kReqGreeting)
        : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        say(greeting);
        say(then);
    }
    ~RawPeer() { ::close(socket_); }
    RawPeer(const RawPeer&) = delete;
    RawPeer& operator=(const RawPeer&) = delete;

    void say(std::string_view bytes) const {
        static_cast<void>(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    }
    void send(unsigned number, const std::string& text) const {
        std::string frame{FrameHead(true, text.size() + 4).bytes()};
        for (const unsigned shift : {24U, 16U, 8U, 0U})
            frame.push_back(static_cast<char>(static_cast<unsigned char>((number | 0x80000000U) >> shift)));
        say(frame + text);
    }
    /// Only the head of a request of `size` bytes, and as many of its bytes.
    void announce(std::size_t size, std::size_t there) const {
        say(FrameHead(true, size).bytes());
        std::string bytes(there, 'x');
        bytes.replace(0, 4, {"\x80\0\0\1", 4});
        say(bytes);
    }
    /// The next `size` bytes, or fewer when no more came for seconds.
    [[nodiscard]] std::string hear(std::size_t size) const {
        const timeval patience{10, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        std::string bytes(size, '\0');
        std::size_t there = 0;
        ssize_t got = 1;
        while (there < size && (got = ::recv(socket_, bytes.data() + there, size - there, 0)) > 0)
            there += static_cast<std::size_t>(got);
        bytes.resize(there);
        return bytes;
    }
    /// The server closed it; waits for that, or for a second of bytes that end.
    [[nodiscard]] bool is_cut() const {
        const timeval patience{10, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        char bytes[64];
        ssize_t got = 0;
        while ((got = ::recv(socket_, bytes, sizeof bytes, 0)) > 0) {
        }
        return got == 0 || errno == ECONNRESET;
    }

private:
    int socket_;
};

std::uint16_t free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    ::close(socket);
    return ntohs(address.sin_port);
}

class Asker {
public:
    explicit Asker(const std::string& url) {
        REQUIRE(nng_req0_open(&socket_) == 0);
        nng_socket_set_ms(socket_, NNG_OPT_RECVTIMEO, 20000);
        nng_socket_set_ms(socket_, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE);
        REQUIRE(nng_dial(socket_, url.c_str(), nullptr, 0) == 0);
    }
    ~Asker() { nng_close(socket_); }
    void send(const std::string& text) {
        std::string copy = text;
        REQUIRE(nng_send(socket_, copy.data(), copy.size(), 0) == 0);
    }
    /// The answer, or the error's text in brackets.
    std::string receive() {
        char* data = nullptr;
        std::size_t size = 0;
        if (const int code = nng_recv(socket_, &data, &size, NNG_FLAG_ALLOC); code != 0)
            return std::string("[") + nng_strerror(code) + "]";
        std::string text(data, size);
        nng_free(data, size);
        return text;
    }

private:
    nng_socket socket_ = NNG_SOCKET_INITIALIZER;
};

ServerOptions at(const std::string& url) {
    ServerOptions options;
    options.url = url;
    return options;
}

/// A server on ipc whose requests wait in an inbox, each trusted at once if so wanted.
struct Served {
    explicit Served(ServerOptions options = {}, ServerHandlers handlers = {}, bool trusting = false)
        : path(folder.path("s")) {
        options.url = "ipc://" + path;
        handlers.request = [this, trusting](Request request) {
            if (trusting) request.trust();
            inbox.put(std::move(request));
        };
        auto made = Server::listen(options, handlers);
        REQUIRE(made.ok());
        server = std::move(made).value();
    }
    TempDir folder;
    const std::string path;
    Inbox inbox;
    std::unique_ptr<Server> server;
};

} // namespace

TEST_CASE("a request is answered in pieces, from any thread, and knows its peer") {
    Served served;
    Asker asker(served.server->url());
    asker.send("hello");
    Request request = served.inbox.take();
    CHECK(request.bytes() == "hello");
    CHECK(request.peer().uid == ::getuid());
    CHECK(request.peer().pid == ::getpid());
    const std::string_view parts[] = {"a", "", "bc"};
    request.reply(parts);
    CHECK(asker.receive() == "abc");
    CHECK(served.server->connections() == 1);
}

TEST_CASE("I-307 parked requests do not starve others") {
    Served served;
    std::vector<std::unique_ptr<Asker>> askers;
    std::vector<Request> parked;
    for (int i = 0; i < 70; ++i) {
        askers.push_back(std::make_unique<Asker>(served.server->url()));
        askers.back()->send("park");
        parked.push_back(served.inbox.take());
    }
    Asker late(served.server->url());
    late.send("now");
    served.inbox.take().reply("done");
    CHECK(late.receive() == "done");
    CHECK(served.server->open_requests() >= 70);
    for (Request& request : parked) request.reply("later");
    for (const auto& asker : askers) CHECK(asker->receive() == "later");
}

TEST_CASE("peers that are gone before the greeting do not end the listening") {
    Served served;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    served.path.copy(address.sun_path, sizeof address.sun_path - 1);
    for (int i = 0; i < 100; ++i) {
        const int lost = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        REQUIRE(::connect(lost, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        ::close(lost);
    }
    Asker asker(served.server->url());
    asker.send("still there?");
    served.inbox.take().reply("yes");
    CHECK(asker.receive() == "yes");
}

TEST_CASE("I-340 who is not admitted is cut off before a byte is read") {
    TempDir folder;
    ServerHandlers handlers;
    handlers.admit = [](const Peer&) { return Admittance::Refused; };
    handlers.request = [](Request) { FAIL("a request came through"); };
    auto server = Server::listen(at(folder.url("s")), handlers);
    REQUIRE(server.ok());
    nng_socket socket = NNG_SOCKET_INITIALIZER;
    REQUIRE(nng_req0_open(&socket) == 0);
    nng_socket_set_ms(socket, NNG_OPT_SENDTIMEO, 300);
    nng_socket_set_ms(socket, NNG_OPT_RECVTIMEO, 300);
    static_cast<void>(nng_dial(socket, (*server)->url().c_str(), nullptr, 0));
    char text[] = "hello";
    static_cast<void>(nng_send(socket, text, sizeof text, 0));
    char* data = nullptr;
    std::size_t size = 0;
    CHECK(nng_recv(socket, &data, &size, NNG_FLAG_ALLOC) != 0);
    nng_close(socket);
}

TEST_CASE("a vanished peer is reported and its request can still be answered into the void") {
    std::mutex mutex;
    std::condition_variable bell;
    std::vector<std::uint32_t> closed;
    ServerHandlers handlers;
    handlers.closed = [&](std::uint32_t connection) {
        const std::lock_guard lock(mutex);
        closed.push_back(connection);
        bell.notify_all();
    };
    Served served{{}, handlers};
    Request request;
    {
        Asker asker(served.server->url());
        asker.send("bye");
        request = served.inbox.take();
    }
    std::unique_lock lock(mutex);
    REQUIRE(bell.wait_for(lock, std::chrono::seconds{20}, [&] { return !closed.empty(); }));
    CHECK(closed.front() == request.peer().connection);
    lock.unlock();
    request.reply("nobody hears this");
}

TEST_CASE("A1 a peer that goes with requests under way gives its descriptor back") {
    Served served{{}, {}, true};
    const std::uint32_t before = own_sockets(served.server->url()).value_or(0);
    CHECK(before == 1); // the listener
    for (int round = 0; round < 50; ++round) {
        std::vector<Request> held;
        {
            const RawPeer rude(served.path);
            for (unsigned n = 1; n <= 12; ++n) rude.send(n, "x");
            held = served.inbox.take_all(6);
        }
        for (Request& request : held) request.reply("too late");
        for (int n = 0; n < 6; ++n)
            if (auto more = served.inbox.take_within(std::chrono::milliseconds{1})) more->reply("too late");
    }
    CHECK(comes_true([&] { return served.server->descriptors() == 1 && own_sockets(served.server->url()) == 1; }));
}

TEST_CASE("A2 one request at a time before the peer has shown who it is, then as many as allowed") {
    ServerOptions options;
    options.max_in_flight = 4;
    Served served{options};
    const RawPeer peer(served.path);
    for (unsigned n = 1; n <= 20; ++n) peer.send(n, std::to_string(n));
    Request first = served.inbox.take();
    CHECK(first.bytes() == "1");
    CHECK_FALSE(served.inbox.take_within(std::chrono::milliseconds{50}));
    first.trust();
    first.reply("");
    std::vector<Request> held = served.inbox.take_all(4);
    CHECK_FALSE(served.inbox.take_within(std::chrono::milliseconds{50}));
    CHECK(served.server->open_requests() == 4);
    held.erase(held.begin()); // dropped: its place is free
    CHECK(served.inbox.take().bytes() == "6");
}

TEST_CASE("what arrives is handed on as received, what had to wait is not: whoever replies may hold locks") {
    Inbox arrived;
    std::atomic<bool> came_of_a_reply{false};
    ServerHandlers handlers;
    handlers.received = [&, replier = std::this_thread::get_id()](Request request) {
        if (request.bytes() == "quick") return request.reply("at once");
        if (std::this_thread::get_id() == replier) came_of_a_reply = true;
        arrived.put(std::move(request));
    };
    Served served{{}, handlers};
    Asker quick(served.server->url());
    quick.send("quick");
    CHECK(quick.receive() == "at once");
    const RawPeer peer(served.path); // one request at a time: it has shown nothing
    peer.send(0, "0");
    Request open = arrived.take();
    std::optional<Request> waited;
    unsigned number = 0;
    while (!waited && number < 1'000) { // one that arrives only after the reply has not waited: then the next one may
        ++number;
        peer.send(number, std::to_string(number));
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        open.reply("");
        waited = served.inbox.take_within(std::chrono::milliseconds{0});
        if (!waited) open = arrived.take();
    }
    REQUIRE(waited);
    CHECK(waited->bytes() == std::to_string(number));
    CHECK_FALSE(came_of_a_reply);
}

TEST_CASE("replies that are longer than what the system takes at once arrive whole and in order") {
    ServerOptions options;
    options.max_in_flight = 8;
    Served served{options, {}, true};
    const RawPeer peer(served.path);
    for (unsigned n = 1; n <= 8; ++n) peer.send(n, std::to_string(n));
    std::string expected{kRepGreeting};
    for (unsigned n = 1; n <= 8; ++n) {
        Request request = served.inbox.take();
        const std::string text(n % 2 == 0 ? 3 : 400'000 + n, static_cast<char>('a' + n));
        expected += FrameHead(true, text.size() + 4).bytes();
        expected += std::string{"\x80\0\0", 3} + static_cast<char>(n) + text;
        request.reply(text);
    }
    CHECK(served.server->open_requests() > 0); // it has read nothing
    CHECK(peer.hear(expected.size()) == expected);
    CHECK(comes_true([&] { return served.server->open_requests() == 0; }));
}

TEST_CASE("A1 a connection that is in the table and not started yet may be looked after, and may end") {
    const ServerOptions options = [] {
        ServerOptions made;
        made.budget = std::make_shared<TransportBudget>();
        return made;
    }();
    ServerConnection connection(nullptr, std::make_shared<Peer>(), options, {});
    for (int i = 0; i < 100; ++i) connection.tick(); // had nng receive for nobody: any storm of connections met it
    CHECK(std::string{connection.reason()}.empty());
    connection.release(); // as when its place was needed at once
    CHECK(connection.waiting().bytes == 0);
}

TEST_CASE("A2 what was sent behind the request that showed who it is need not wait for its answer") {
    Served served;
    const RawPeer peer(served.path);
    for (unsigned n = 1; n <= 2; ++n) peer.send(n, std::to_string(n));
    const Request parked = served.inbox.take();
    CHECK_FALSE(served.inbox.take_within(std::chrono::milliseconds{50}));
    parked.trust();
    const auto second = served.inbox.take_within(std::chrono::seconds{2});
    REQUIRE(second);
    CHECK(second->bytes() == "2");
}

TEST_CASE("A2 A3 a request that has to wait for its turn is no half message") {
    ServerOptions options;
    options.max_in_flight = 1;
    options.send_time = std::chrono::milliseconds{500};
    Served served{options, {}, true};
    const RawPeer peer(served.path);
    for (unsigned n = 1; n <= 2; ++n) peer.send(n, std::to_string(n));
    Request parked = served.inbox.take();
    CHECK_FALSE(served.inbox.take_within(std::chrono::milliseconds{2000}));
    CHECK(served.server->connections() == 1);
    parked.reply("done");
    CHECK(served.inbox.take().bytes() == "2");
}

TEST_CASE("A2 the bytes of a request are counted as long as somebody holds it, also when its peer has gone") {
    ServerOptions options;
    options.budget = std::make_shared<TransportBudget>();
    Served served{options, {}, true};
    std::vector<Request> held;
    {
        const RawPeer peer(served.path);
        for (unsigned n = 1; n <= 6; ++n) peer.send(n, std::string(100'000, 'x'));
        held = served.inbox.take_all(6);
    }
    CHECK(comes_true([&] { return served.server->connections() == 0; }));
    CHECK(options.budget->requests() == std::size_t{6} * 100'004);
    held[0].reply("into the void");
    held[1].disconnect();
    held.resize(3);
    CHECK(options.budget->requests() == 100'004);
    held.clear();
    CHECK(options.budget->requests() == 0);
}

TEST_CASE("A3 replies that fill the memory cost the peer that does not read, at whichever listener it is") {
    ServerOptions options;
    options.budget = std::make_shared<TransportBudget>();
    options.budget->most_replies = 8U << 20;
    Served hoarding{options, {}, true}, served{options, {}, true};
    const RawPeer rude(hoarding.path), honest(served.path);
    const auto answer = [](const RawPeer& peer, Served& at, int count, std::size_t size) {
        for (int n = 1; n <= count; ++n) peer.send(static_cast<unsigned>(n), "?");
        std::vector<Request> requests = at.inbox.take_all(count);
        const std::string reply(size, 'x');
        for (Request& request : requests) request.reply(reply);
    };
    answer(rude, hoarding, 7, 1U << 20); // fits
    answer(honest, served, 2, 3U << 19);
    CHECK(comes_true([&] { return hoarding.server->connections() == 0; }));
    CHECK(served.server->connections() == 1);
}

TEST_CASE("A3 the peer that does not read its replies is cut when they fill the memory for them") {
    std::mutex mutex;
    std::vector<std::string> cut;
    ServerHandlers handlers;
    handlers.cut = [&](const Peer&, std::string_view why) {
        const std::lock_guard lock(mutex);
        cut.emplace_back(why);
    };
    ServerOptions options;
    options.budget = std::make_shared<TransportBudget>();
    options.budget->most_replies = 8U << 20;
    Served served{options, handlers, true};
    const RawPeer rude(served.path);
    for (unsigned n = 1; n <= 10; ++n) rude.send(n, "large");
    std::vector<Request> held = served.inbox.take_all(10);
    const std::string large(1U << 20, 'x');
    for (Request& request : held) request.reply(large);
    CHECK(comes_true([&] {
        const std::lock_guard lock(mutex);
        return !cut.empty();
    }));
    CHECK(cut.front().find("fill the memory") != std::string::npos);
    CHECK(options.budget->replies.load() == 0);
    CHECK(options.budget->requests() == 0);
    Asker polite(served.server->url());
    polite.send("and I?");
    served.inbox.take().reply("you are served");
    CHECK(polite.receive() == "you are served");
}

TEST_CASE("A3 connections that say who they are not share few bytes for what they send, and the others go on") {
    ServerOptions options;
    options.budget = std::make_shared<TransportBudget>();
    options.budget->most_requests = 8U << 20;
    Served served{options};
    std::vector<std::unique_ptr<RawPeer>> rude;
    for (int n = 0; n < 50; ++n) {
        rude.push_back(std::make_unique<RawPeer>(served.path));
        rude.back()->announce(1U << 20, 100'000);
    }
    CHECK(comes_true([&] { return served.server->connections() == 50 && options.budget->requests() == 1U << 20; }));
    const RawPeer polite(served.path);
    polite.send(1, "Hello");
    Request hello = served.inbox.take();
    CHECK(hello.bytes() == "Hello");
    hello.trust();
    hello.reply("");
    polite.send(2, std::string(2U << 20, 'x'));
    CHECK(served.inbox.take().bytes().size() == 2U << 20);
    CHECK(comes_true([&] { return options.budget->requests() == 1U << 20; }));
    rude.clear();
    CHECK(comes_true([&] { return served.server->connections() == 1 && options.budget->requests() == 0; }));
}

TEST_CASE("A3 who waits for room and has not said who it is waits for the send time") {
    ServerOptions options;
    options.budget = std::make_shared<TransportBudget>();
    options.budget->most_requests = 1U << 20;
    options.send_time = std::chrono::milliseconds{500};
    Served served{options, {}, true};
    const RawPeer busy(served.path);
    busy.send(1, std::string(600'000, 'x'));
    const Request held = served.inbox.take();
    busy.announce(600'000, 100'000); // waits, and stays: it is known
    const RawPeer stranger(served.path);
    stranger.announce(600'000, 100'000);
    CHECK(stranger.is_cut());
    CHECK(comes_true([&] { return served.server->connections() == 1; }));
}

TEST_CASE("A3 a large request that is there does not wait for the one before it") {
    ServerOptions options;
    options.budget = std::make_shared<TransportBudget>();
    options.budget->most_requests = 1U << 20;
    Served served{options, {}, true};
    const RawPeer peer(served.path);
    peer.send(1, "Poll");
    const Request parked = served.inbox.take();
    peer.send(2, std::string(900'000, 'x'));
    CHECK(served.inbox.take().bytes().size() == 900'000);
}

TEST_CASE("A3 a message that comes too slowly is cut, though a byte comes now and then") {
    ServerOptions options;
    options.send_time = std::chrono::milliseconds{500};
    Served served{options};
    const RawPeer slow(served.path);
    slow.announce(40'000, 10'000);
    REQUIRE(comes_true([&] { return served.server->connections() == 1; }));
    CHECK(comes_true([&] {
        slow.say("x");
        return served.server->connections() == 0;
    }));
}

TEST_CASE("A3 many connections that each keep a little are cut, too, and who keeps nothing stays") {
    ServerOptions options;
    options.budget = std::make_shared<TransportBudget>();
    options.budget->most_replies = 8U << 20;
    Served served{options, {}, true};
    std::vector<std::unique_ptr<RawPeer>> rude;
    const std::string reply(900'000, 'x');
    for (unsigned n = 0; n < 30; ++n) {
        rude.push_back(std::make_unique<RawPeer>(served.path));
        rude.back()->send(n, "?");
        served.inbox.take().reply(reply);
        CHECK(options.budget->replies.load() <= options.budget->most_replies);
    }
    CHECK(served.server->connections() < 15);
    const RawPeer idle(served.path);
    idle.send(1, "Ping");
    served.inbox.take().reply("");
    CHECK(options.budget->replies.load() > 0);
}

TEST_CASE("A3 a peer that stops in the middle, or does not read, is cut after the send time") {
    ServerOptions options;
    options.send_time = options.greeting_time = std::chrono::milliseconds{500};
    Served served{options};
    const RawPeer half_frame(served.path, "\1\0\0\0");
    const RawPeer silent(served.path, "", "");
    const RawPeer idle(served.path);
    idle.send(1, "read this");
    const RawPeer not_reading(served.path);
    CHECK(served.inbox.take().bytes() == "read this"); // dropped: it may stay
    not_reading.send(1, "a large one");
    served.inbox.take().reply(std::string(4U << 20, 'x'));
    CHECK(comes_true([&] { return served.server->connections() == 1; }));
    idle.send(2, "still here");
    CHECK(served.inbox.take().bytes() == "still here");
}

TEST_CASE("A8 silent connections make room; those of the daemon's user get in last") {
    ServerHandlers handlers;
    std::atomic<bool> privileged{false};
    handlers.admit = [&](const Peer&) { return privileged ? Admittance::Privileged : Admittance::Ordinary; };
    ServerOptions options;
    options.max_connections = 12;
    options.kept_connections = 4;
    Served served{options, handlers, true};
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (int n = 0; n < 4; ++n) { // half of the ordinary places: one identity gets no more
        peers.push_back(std::make_unique<RawPeer>(served.path));
        peers.back()->send(1, "me");
        served.inbox.take().reply("ok");
    }
    CHECK_FALSE(served.server->is_full());
    const RawPeer fifth(served.path);
    CHECK(fifth.is_cut());
    CHECK(served.server->is_full()); // for the probe, which is of the same identity: nobody is deaf
    privileged = true;
    for (int n = 0; n < 8; ++n) {
        peers.push_back(std::make_unique<RawPeer>(served.path));
        peers.back()->send(1, "me");
        served.inbox.take().reply("ok");
    }
    CHECK(served.server->connections() == 12);
    CHECK(served.server->is_full());
    CHECK(RawPeer(served.path).is_cut());
}

TEST_CASE("A8 a listener of few places is full when they are taken") {
    ServerHandlers handlers;
    handlers.admit = [](const Peer&) { return Admittance::Privileged; };
    ServerOptions options;
    options.max_connections = 4; // fewer than those that are kept otherwise
    Served served{options, handlers, true};
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (int n = 0; n < 4; ++n) {
        peers.push_back(std::make_unique<RawPeer>(served.path));
        peers.back()->send(1, "me");
        served.inbox.take().reply("ok");
    }
    CHECK(served.server->is_full());
}

TEST_CASE("A1 listeners of one port at two addresses do not count each other's sockets") {
    const std::string port = std::to_string(free_port());
    const auto first = Server::listen(at("tcp://127.0.0.1:" + port), {});
    const auto second = Server::listen(at("tcp://127.0.0.2:" + port), {});
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    CHECK(own_sockets((*first)->url()) == 1);
    CHECK(own_sockets((*second)->url()) == 1);
}

TEST_CASE("the daemon asks itself over each listener") {
    TempDir folder;
    Inbox inbox;
    ServerHandlers handlers;
    std::atomic<bool> ignoring{false};
    handlers.request = [&](Request request) {
        if (ignoring) return inbox.put(std::move(request));
        const std::string text{request.bytes()};
        request.reply(text);
    };
    for (const std::string& url : {folder.url("s"), std::string{"tcp://127.0.0.1:"} + std::to_string(free_port())}) {
        ignoring = false;
        auto server = Server::listen(at(url), handlers);
        REQUIRE(server.ok());
        const auto answered = probe(url, "are you there?", std::chrono::seconds{20});
        CHECK((answered.ok() ? std::string{} : answered.error().message) == "");
        ignoring = true;
        const auto unanswered = probe(url, "are you there?", std::chrono::milliseconds{50});
        REQUIRE_FALSE(unanswered.ok());
        CHECK(unanswered.error().message.find("does not answer") != std::string::npos);
        CHECK(comes_true([&] { return own_sockets(url) == 1; }));
    }
    CHECK_FALSE(probe(folder.url("none"), "x", std::chrono::seconds{20}).ok());
    CHECK_FALSE(can_probe("tcp://127.0.0.1:0"));
}

TEST_CASE("I-305 a message beyond the limit cuts the connection") {
    ServerOptions options;
    options.max_message = 1000;
    Served served{options};
    Asker large(served.server->url());
    large.send(std::string(2000, 'x'));
    CHECK(large.receive() == "[Connection reset]");
    Asker fits(served.server->url());
    fits.send(std::string(996, 'x')); // with nng's request id exactly 1000
    served.inbox.take().reply("ok");
    CHECK(fits.receive() == "ok");
}

TEST_CASE("I-302 to I-304 addresses that cannot be used say why") {
    TempDir folder;
    const auto refusal = [](const ServerOptions& options) {
        const auto server = Server::listen(options, {});
        return server.ok() ? std::string{"listens"} : server.error().message;
    };
    std::ofstream(folder.path("file")) << "x";
    CHECK(refusal(at(folder.url("file"))).find("no socket is in its place") != std::string::npos);
    CHECK(refusal(at(folder.url("none/s"))).find("is not usable") != std::string::npos);
    CHECK(refusal(at("ipc://" + std::string(200, 'x'))).find("limit for sockets is 107") != std::string::npos);
    CHECK(refusal(at("ipc://")).find("names no path") != std::string::npos);
    CHECK(refusal(at("abstract://x")).find("addresses are") != std::string::npos);
    CHECK(refusal(at("tcp://0.0.0.0:0")).find("--allow-plaintext") != std::string::npos);
    CHECK(refusal(at("tcp://127.0.0.1:notaport")).find("cannot listen") != std::string::npos);
    auto first = Server::listen(at(folder.url("s")), {});
    REQUIRE(first.ok());
    CHECK(refusal(at(folder.url("s"))).find("another process") != std::string::npos);
}

TEST_CASE("the socket file has the mode asked for and can be removed early") {
    TempDir folder;
    ServerOptions options = at(folder.url("s"));
    options.socket_mode = 0640;
    auto server = Server::listen(options, {});
    REQUIRE(server.ok());
    CHECK((std::filesystem::status(folder.path("s")).permissions() & std::filesystem::perms::mask) ==
          static_cast<std::filesystem::perms>(0640));
    (*server)->remove_socket_file();
    CHECK_FALSE(std::filesystem::exists(folder.path("s")));
}
