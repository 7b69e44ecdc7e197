// SPDX-License-Identifier: Apache-2.0
// Pages over HTTP from a server of the test on 127.0.0.1.
#ifdef YK_WITH_CURL
#include "protocol/metric_pages/http/curl_pages.h"

#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace yk::testing {

using namespace pages;
using namespace std::chrono_literals;

namespace {

/// Answers each request with the same bytes, or not at all (empty), until it is destroyed.
class Server {
public:
    explicit Server(std::string answer) : answer_(std::move(answer)) {
        REQUIRE(listener_ >= 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const plain = reinterpret_cast<sockaddr*>(&address); // as the call wants it
        socklen_t size = sizeof address;
        REQUIRE(::bind(listener_, plain, size) == 0);
        REQUIRE(::listen(listener_, 64) == 0);
        REQUIRE(::getsockname(listener_, plain, &size) == 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~Server() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        for (const int each : connections_) ::close(each);
        ::close(listener_);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/metrics"; }
    [[nodiscard]] std::string request() {
        const std::lock_guard lock(mutex_);
        return request_;
    }
    std::atomic<int> requests = 0;

private:
    void serve() {
        for (int connection = 0; (connection = ::accept(listener_, nullptr, nullptr)) >= 0;) {
            connections_.push_back(connection);
            std::string bytes(4096, '\0');
            const auto count = ::recv(connection, bytes.data(), bytes.size(), 0);
            {
                const std::lock_guard lock(mutex_);
                request_ = bytes.substr(0, static_cast<std::size_t>(std::max<ssize_t>(0, count)));
            }
            ++requests;
            if (answer_.empty()) continue; // it stays open
            static_cast<void>(::send(connection, answer_.data(), answer_.size(), MSG_NOSIGNAL));
            ::shutdown(connection, SHUT_WR);
        }
    }

    const std::string answer_;
    const int listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    std::uint16_t port_ = 0;
    std::vector<int> connections_; // of the thread, until it has ended
    std::mutex mutex_;
    std::string request_;
    std::thread thread_;
};

std::string http(const std::string& body, const std::string& status = "200 OK", const std::string& head = {}) {
    return "HTTP/1.1 " + status + "\r\nContent-Type: text/plain\r\n" + head + "Connection: close\r\n\r\n" + body;
}

struct Came {
    std::string page, why;
};
/// `most`: so many bytes are enough.
std::future<Came> begin(PageClient& client, const std::string& url, Duration timeout = 20s,
                        std::size_t most = std::size_t{1} << 30U) {
    const auto promise = std::make_shared<std::promise<Came>>();
    const auto page = std::make_shared<std::string>();
    client.fetch({url, timeout,
                  [page, most](std::string_view bytes) {
                      page->append(bytes);
                      return page->size() < most;
                  },
                  [promise, page](std::string why) {
                      promise->set_value({*page, std::move(why)});
                  }});
    return promise->get_future();
}
Came fetch(const std::string& url, Duration timeout = 20s, std::size_t most = std::size_t{1} << 30U) {
    CurlPages client;
    return begin(client, url, timeout, most).get();
}

} // namespace

TEST_CASE("rs R-112 a page is fetched as it is") {
    Server server{http("a 1\nb 2\n")};
    const Came came = fetch(server.url());
    CHECK(came.why.empty());
    CHECK(came.page == "a 1\nb 2\n");
    CHECK(server.request().starts_with("GET /metrics HTTP/1.1\r\n"));
    CHECK(server.request().find("Accept: text/plain;version=0.0.4\r\n") != std::string::npos);
    CHECK(server.request().find("Authorization") == std::string::npos);
}

TEST_CASE("rs R-112 what is no page says why") {
    Server missing{http("<html>", "404 Not Found")};
    const Came not_found = fetch(missing.url());
    CHECK(not_found.why == "it answered 404");
    CHECK(not_found.page.empty());
    Server elsewhere{http("", "302 Found", "Location: " + missing.url() + "\r\n")};
    const int before = missing.requests;
    CHECK(fetch(elsewhere.url()).why == "it answered 302, and redirects are not followed");
    CHECK(missing.requests == before);
    Server garbage{"SSH-2.0-OpenSSH\r\n"};
    CHECK_FALSE(fetch(garbage.url()).why.empty());
    std::string gone;
    {
        Server server{http("")};
        gone = server.url();
    }
    CHECK_FALSE(fetch(gone).why.empty());
    CHECK_FALSE(fetch("http://127.0.0.1:1/x y").why.empty());
    CHECK_FALSE(fetch("file:///etc/hostname").why.empty());
}

TEST_CASE("rs R-112 a page that takes too long or is too long is given up") {
    Server silent{""};
    CHECK(fetch(silent.url(), 200ms).why == "it took longer than 1 s");
    Server endless{http(std::string(CurlPages::kLongestPage + 1, '#'))};
    const Came cut = fetch(endless.url());
    CHECK(cut.why == "the page is longer than 8388608 bytes");
    CHECK(cut.page.size() <= CurlPages::kLongestPage);
    Server chatty{http("a 1\n", "200 OK", std::string{"X: "} + std::string(90'000, 'x') + "\r\n")};
    CHECK(fetch(chatty.url()).why == "its head is longer than 65536 bytes");
    Server enough{http(std::string(100'000, '#'))};
    const Came partly = fetch(enough.url(), 20s, 10);
    CHECK(partly.why.empty());
    CHECK(partly.page.size() >= 10);
}

TEST_CASE("rs R-112 one server that hangs does not keep others from being asked, and the end waits for none") {
    Server silent{""}, good{http("a 1\n")};
    CurlPages client;
    std::vector<std::future<Came>> waiting;
    for (std::size_t at = 0; at + 1 < CurlPages::kMostAtOnce; ++at) waiting.push_back(begin(client, silent.url(), 1h));
    for (int at = 0; at < 20; ++at) CHECK(begin(client, good.url()).get().page == "a 1\n");
    waiting.push_back(begin(client, silent.url(), 1h));
    auto late = begin(client, good.url()); // there is no room any more
    CHECK(late.wait_for(50ms) == std::future_status::timeout);
}

} // namespace yk::testing
#endif
