#include "protocol/transport/server.h"

#include <catch2/catch.hpp>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <vector>

#include "protocol/transport/ipc_path.h"

using namespace yk::wire;

namespace {

class Folder {
public:
    Folder() {
        std::string name = "/tmp/yk.XXXXXX";
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string path;
};

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

private:
    std::mutex mutex_;
    std::condition_variable bell_;
    std::vector<Request> requests_;
};

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

} // namespace

TEST_CASE("a request is answered in pieces, from any thread, and knows its peer") {
    Folder folder;
    Inbox inbox;
    ServerHandlers handlers;
    handlers.request = [&](Request request) { inbox.put(std::move(request)); };
    auto server = Server::listen(at("ipc://" + folder.path + "/s"), handlers);
    REQUIRE(server.ok());
    Asker asker((*server)->url());
    asker.send("hello");
    Request request = inbox.take();
    CHECK(request.bytes() == "hello");
    CHECK(request.peer().uid == ::getuid());
    CHECK(request.peer().pid == ::getpid());
    const std::string_view pieces[] = {"a", "", "bc"};
    request.reply(pieces);
    CHECK(asker.receive() == "abc");
    CHECK((*server)->connections() == 1);
}

TEST_CASE("I-307 parked requests do not starve others") {
    Folder folder;
    Inbox inbox;
    ServerHandlers handlers;
    handlers.request = [&](Request request) { inbox.put(std::move(request)); };
    auto server = Server::listen(at("ipc://" + folder.path + "/s"), handlers);
    REQUIRE(server.ok());
    std::vector<std::unique_ptr<Asker>> askers;
    std::vector<Request> parked;
    for (int i = 0; i < 70; ++i) {
        askers.push_back(std::make_unique<Asker>((*server)->url()));
        askers.back()->send("park");
        parked.push_back(inbox.take());
    }
    Asker late((*server)->url());
    late.send("now");
    inbox.take().reply("done");
    CHECK(late.receive() == "done");
    CHECK((*server)->open_requests() >= 70);
    for (Request& request : parked) request.reply("later");
    for (const auto& asker : askers) CHECK(asker->receive() == "later");
}

TEST_CASE("peers that are gone before the greeting do not end the listening") {
    Folder folder;
    Inbox inbox;
    ServerHandlers handlers;
    handlers.request = [&](Request request) { inbox.put(std::move(request)); };
    auto server = Server::listen(at("ipc://" + folder.path + "/s"), handlers);
    REQUIRE(server.ok());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder.path + "/s").copy(address.sun_path, sizeof address.sun_path - 1);
    for (int i = 0; i < 100; ++i) {
        const int lost = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        REQUIRE(::connect(lost, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        ::close(lost);
    }
    Asker asker((*server)->url());
    asker.send("still there?");
    inbox.take().reply("yes");
    CHECK(asker.receive() == "yes");
}

TEST_CASE("I-340 who is not admitted is cut off before a byte is read") {
    Folder folder;
    ServerHandlers handlers;
    handlers.admit = [](const Peer&) { return false; };
    handlers.request = [](Request) { FAIL("a request came through"); };
    auto server = Server::listen(at("ipc://" + folder.path + "/s"), handlers);
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
    Folder folder;
    Inbox inbox;
    std::mutex mutex;
    std::condition_variable bell;
    std::vector<std::uint32_t> closed;
    ServerHandlers handlers;
    handlers.request = [&](Request request) { inbox.put(std::move(request)); };
    handlers.closed = [&](std::uint32_t connection) {
        const std::lock_guard lock(mutex);
        closed.push_back(connection);
        bell.notify_all();
    };
    auto server = Server::listen(at("ipc://" + folder.path + "/s"), handlers);
    REQUIRE(server.ok());
    Request request;
    {
        Asker asker((*server)->url());
        asker.send("bye");
        request = inbox.take();
    }
    std::unique_lock lock(mutex);
    REQUIRE(bell.wait_for(lock, std::chrono::seconds{20}, [&] { return !closed.empty(); }));
    CHECK(closed.front() == request.peer().connection);
    lock.unlock();
    request.reply("nobody hears this");
}

TEST_CASE("I-305 a message beyond the limit cuts the connection") {
    Folder folder;
    Inbox inbox;
    ServerHandlers handlers;
    handlers.request = [&](Request request) { inbox.put(std::move(request)); };
    ServerOptions options = at("ipc://" + folder.path + "/s");
    options.max_message = 1000;
    auto server = Server::listen(options, handlers);
    REQUIRE(server.ok());
    Asker large((*server)->url());
    large.send(std::string(2000, 'x'));
    CHECK(large.receive() == "[Connection reset]");
    Asker fits((*server)->url());
    fits.send(std::string(996, 'x')); // with nng's request id exactly 1000
    inbox.take().reply("ok");
    CHECK(fits.receive() == "ok");
}

TEST_CASE("I-302 to I-304 addresses that cannot be used say why") {
    Folder folder;
    const auto refusal = [](const ServerOptions& options) {
        const auto server = Server::listen(options, {});
        return server.ok() ? std::string{"listens"} : server.error().message;
    };
    std::ofstream(folder.path + "/file") << "x";
    CHECK(refusal(at("ipc://" + folder.path + "/file")).find("no socket is in its place") != std::string::npos);
    CHECK(refusal(at("ipc://" + folder.path + "/none/s")).find("is not usable") != std::string::npos);
    CHECK(refusal(at("ipc://" + std::string(200, 'x'))).find("limit for sockets is 107") != std::string::npos);
    CHECK(refusal(at("ipc://")).find("names no path") != std::string::npos);
    CHECK(refusal(at("abstract://x")).find("addresses are") != std::string::npos);
    CHECK(refusal(at("tcp://0.0.0.0:0")).find("--allow-plaintext") != std::string::npos);
    CHECK(refusal(at("tcp://127.0.0.1:notaport")).find("cannot listen") != std::string::npos);
    auto first = Server::listen(at("ipc://" + folder.path + "/s"), {});
    REQUIRE(first.ok());
    CHECK(refusal(at("ipc://" + folder.path + "/s")).find("another process") != std::string::npos);
}

TEST_CASE("the socket file has the mode asked for and can be removed early") {
    Folder folder;
    ServerOptions options = at("ipc://" + folder.path + "/s");
    options.socket_mode = 0640;
    auto server = Server::listen(options, {});
    REQUIRE(server.ok());
    CHECK((std::filesystem::status(folder.path + "/s").permissions() & std::filesystem::perms::mask) ==
          static_cast<std::filesystem::perms>(0640));
    (*server)->remove_socket_file();
    CHECK_FALSE(std::filesystem::exists(folder.path + "/s"));
}
