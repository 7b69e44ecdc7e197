// SPDX-License-Identifier: Apache-2.0
#include "protocol/http/http_server.h"

#include <catch2/catch.hpp>
#include <zlib.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/unit/protocol/http/raw_client.h"

using namespace yk::http;
using Catch::Contains;
using yk::http::testing::RawClient;

namespace {

constexpr const char* kText = "text/plain";

HttpOptions options() {
    HttpOptions options;
    options.address = "127.0.0.1:0";
    return options;
}

HttpAnswer plain(std::string body) {
    HttpAnswer answer;
    answer.content_type = kText;
    answer.body = std::move(body);
    return answer;
}

std::unique_ptr<HttpServer> listen(const HttpOptions& options, HttpServer::Handler handler) {
    auto server = HttpServer::listen(options, std::move(handler), [](std::string_view) {});
    REQUIRE(server.ok());
    return std::move(server).value();
}

/// Says what it was asked.
HttpAnswer echo(const HttpRequest& request) {
    return plain(request.method + " " + request.path + " " + std::string(request.parameter("a")) + " [" + request.body +
                 "]");
}

std::string body_of(const std::string& answer) {
    const std::size_t head = answer.find("\r\n\r\n");
    REQUIRE(head != std::string::npos);
    return answer.substr(head + 4);
}

std::string unpacked(std::string packed) {
    z_stream state{};
    REQUIRE(::inflateInit2(&state, 15 + 16) == Z_OK);
    state.next_in = reinterpret_cast<Bytef*>(packed.data());
    state.avail_in = static_cast<uInt>(packed.size());
    std::string text(1 << 20, '\0');
    state.next_out = reinterpret_cast<Bytef*>(text.data());
    state.avail_out = static_cast<uInt>(text.size());
    CHECK(::inflate(&state, Z_FINISH) == Z_STREAM_END);
    text.resize(state.total_out);
    ::inflateEnd(&state);
    return text;
}

/// The text of chunks.
std::string joined(std::string_view chunks) {
    std::string text;
    while (!chunks.empty()) {
        const std::size_t size = std::stoul(std::string(chunks.substr(0, chunks.find("\r\n"))), nullptr, 16);
        chunks.remove_prefix(chunks.find("\r\n") + 2);
        text += chunks.substr(0, size);
        chunks.remove_prefix(size + 2);
    }
    return text;
}

constexpr std::string_view kClose = "Connection: close\r\n\r\n";

std::string get(const std::string& target, const std::string& headers = {}) {
    return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

} // namespace

TEST_CASE("requests of one connection are answered one after the other") {
    const auto server = listen(options(), echo);
    RawClient client(server->url());
    const std::string first = client.ask(get("/x%2Fy?a=1%202&a=3"));
    CHECK_THAT(first, Contains("HTTP/1.1 200 OK"));
    CHECK_THAT(first, Contains("Date: "));
    CHECK(body_of(first) == "GET /x%2Fy 1 2 []"); // the path as it was sent, the query decoded, the first of two
    CHECK(body_of(client.ask(get("/") + get("/z"))) == "GET /  []");
    CHECK(body_of(client.answer()) == "GET /z  []");
    CHECK(server->counts().open == 1);
    CHECK(server->counts().accepted == 1);
}

TEST_CASE("a body comes as it is, whatever it calls itself") {
    const auto server = listen(options(), echo);
    RawClient client(server->url());
    const std::string form(20'000, 'a'); // as curl --data sends a file
    const std::string head =
        "POST /f HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ";
    CHECK(body_of(client.ask(head + "20000\r\n\r\n" + form)) == "POST /f  [" + form + "]");
    CHECK(body_of(client.ask("POST /n HTTP/1.1\r\nHost: x\r\n\r\n")) == "POST /n  []"); // no length is no body
    CHECK(
        body_of(client.ask("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")) ==
        "POST /c  [abc]");
    CHECK(body_of(client.ask(
              "POST /m HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 3\r\n"
              "\r\nabc")) == "POST /m  [abc]");
    CHECK_THAT(client.ask("POST /z HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"),
               Contains("HTTP/1.1 415 ") && Contains("Connection: close"));
    CHECK(client.rest().empty());
}

TEST_CASE("a body where none belongs ends the connection, so that nobody takes it for a request") {
    const auto server = listen(options(), echo);
    const std::string inner = get("/hidden");
    RawClient client(server->url());
    client.send("GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(inner.size()) + "\r\n\r\n" + inner);
    CHECK_THAT(client.rest(), Contains("GET /a") && !Contains("/hidden"));
    RawClient both(server->url());
    both.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
              inner);
    CHECK_THAT(both.rest(), Contains("POST /a") && !Contains("/hidden"));
}

TEST_CASE("what is no request is refused, and the connection closed") {
    const auto server = listen(options(), echo);
    for (const std::string& bytes :
         {std::string("hello\r\n\r\n"), std::string("GET /\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
          std::string(3, '\0') + "\r\n\r\n", "GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n",
          "BREW / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(get("/hidden").size()) + "\r\n\r\n",
          std::string("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), std::string("GET / HTTP/1.1\r\n\r\n"),
          get("/?a=\r"), get("/\x7f"), get("/", "Transfer-Encoding: xchunked\r\n"),
          get("/", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
          get("/", "Content-Length: 3\r\nContent-Length: 4\r\n"), get("/", "Content-Length: 0x3\r\n"),
          get("/", "Content-Length: +3\r\n"), get("/", "Content-Length: -1\r\n"),
          get("/", "Content-Length: 99999999999999999999\r\n")}) {
        CAPTURE(bytes.substr(0, 80));
        RawClient client(server->url());
        client.send(bytes + get("/hidden")); // which nobody may take for a request
        CHECK_THAT(client.rest(), Contains("HTTP/1.1 4") && Contains("Connection: close") && !Contains("/hidden"));
    }
    RawClient next(server->url());
    CHECK(body_of(next.ask(get("/"))) == "GET /  []");
}

TEST_CASE("a head that two programs may read differently is refused, and nothing behind it is taken for a request") {
    const auto server = listen(options(), echo);
    const std::string inner = get("/hidden"), size = std::to_string(inner.size());
    for (const std::string& header :
         {"Content-Length : " + size + "\r\n", "Content-Length:\r\n " + size + "\r\n",
          " Content-Length: " + size + "\r\n", "\tContent-Length: " + size + "\r\n", "Content-Length: " + size + "\n",
          std::string{"Transfer-Encoding : chunked\r\n"}, std::string{"Transfer-Encoding:\r\n chunked\r\n"},
          std::string{"no colon\r\n"}, std::string{": no name\r\n"}, std::string{"X: a\rContent-Length: 9\r\n"},
          std::string{"X: a\0b\r\n", 8}, std::string{"X\xc3\xa9: a\r\n"}}) {
        INFO(header);
        RawClient client(server->url());
        client.send("POST /a HTTP/1.1\r\nHost: x\r\n" + header + "\r\n" + inner);
        const std::string all = client.rest();
        CHECK_THAT(all, Catch::StartsWith("HTTP/1.1 400 "));
        CHECK_THAT(all, !Contains("hidden"));
    }
    RawClient plain(server->url()); // blanks around a value, and bytes beyond ASCII within it, are all right
    CHECK_THAT(plain.ask("POST /a HTTP/1.1\r\nHost: x\r\nX:\t \xc3\xa9\t\r\nContent-Length:  3 \r\n\r\nabc"),
               Contains("POST /a  [abc]"));
}

TEST_CASE("a refusal says what is wrong with a head that is too large, or with a body") {
    const auto server = listen(options(), echo);
    const auto answered = [&](const std::string& request) {
        RawClient client(server->url());
        client.send(request);
        return client.rest();
    };
    CHECK_THAT(answered(get("/", "X: " + std::string(9000, 'a') + "\r\n")),
               Catch::StartsWith("HTTP/1.1 431 ") && Contains("8 KiB"));
    CHECK_THAT(RawClient(server->url()).ask(get("/", "X: " + std::string(8000, 'a') + "\r\n")),
               Catch::StartsWith("HTTP/1.1 200 "));
    CHECK_THAT(answered(get("/?a=" + std::string(9000, 'a'))), Catch::StartsWith("HTTP/1.1 4") && !Contains("method"));
    CHECK_THAT(
        answered("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n"),
        Catch::StartsWith("HTTP/1.1 400 ") && Contains("headers behind them are not taken"));
    CHECK_THAT(answered("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
               Catch::StartsWith("HTTP/1.1 400 ") && Contains("its chunks are wrong"));
}

TEST_CASE("who answers and throws has answered 500, and the connection closed") {
    const auto server = listen(options(), [](const HttpRequest&) -> HttpAnswer { throw std::runtime_error("x"); });
    RawClient client(server->url());
    client.send(get("/"));
    CHECK_THAT(client.rest(),
               Contains("HTTP/1.1 500 ") && Contains("Connection: close") && Contains("this should not have happened"));
}

TEST_CASE("an answer of 1,400 bytes is compressed for who takes gzip") {
    const std::string text(1400, 'x');
    const auto server = listen(
        options(), [&](const HttpRequest& request) { return plain(request.path == "/long" ? text : text.substr(1)); });
    RawClient client(server->url());
    const std::string packed = client.ask(get("/long", "Accept-Encoding: deflate, gzip;q=0.5\r\n"));
    CHECK_THAT(packed, Contains("Content-Encoding: gzip") && Contains("Vary: Accept-Encoding"));
    CHECK(unpacked(body_of(packed)) == text);
    for (const char* codings : {"gzip;q=0", "gzip;q=0.000", "br", "deflate", "xgzip"})
        CHECK(body_of(client.ask(get("/long", std::string("Accept-Encoding: ") + codings + "\r\n"))) == text);
    CHECK(body_of(client.ask(get("/short", "Accept-Encoding: gzip\r\n"))) == text.substr(1));
}

TEST_CASE("an answer is sent while it is made") {
    const auto server = listen(options(), [](const HttpRequest& request) {
        HttpAnswer answer = plain({});
        answer.never_compressed = request.path == "/lines";
        answer.stream = [fails = request.path == "/fails"](AnswerSink& sink) {
            for (int i = 0; i < 3; ++i)
                if (!sink.write(std::string(50'000, static_cast<char>('a' + i))) || !sink.flush()) return false;
            return !fails;
        };
        return answer;
    });
    const std::string text = std::string(50'000, 'a') + std::string(50'000, 'b') + std::string(50'000, 'c');
    RawClient plain_client(server->url());
    plain_client.send(get("/", std::string(kClose.substr(0, kClose.size() - 2))));
    CHECK(joined(body_of(plain_client.rest())) == text);
    RawClient packed(server->url());
    packed.send(get("/", "Accept-Encoding: gzip\r\nConnection: close\r\n"));
    CHECK(unpacked(joined(body_of(packed.rest()))) == text);
    RawClient lines(server->url());
    lines.send(get("/lines", "Accept-Encoding: gzip\r\nConnection: close\r\n"));
    CHECK(joined(body_of(lines.rest())) == text);
    RawClient old(server->url()); // which knows no chunks: the end of the connection is that of the answer
    old.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
    CHECK(body_of(old.rest()) == text);
    RawClient failed(server->url());
    failed.send(get("/fails"));
    const std::string cut = failed.rest();
    CHECK_THAT(cut, Contains("ccc"));
    CHECK(cut.substr(cut.size() - 5) != "0\r\n\r\n"); // so that the client knows
}

TEST_CASE("who does not send his request in time loses the connection") {
    HttpOptions limits = options();
    limits.request_time = limits.idle_time = std::chrono::milliseconds{100};
    const auto server = listen(limits, echo);
    RawClient silent(server->url());
    CHECK(silent.rest().empty());
    RawClient half(server->url());
    half.send("GET / HTTP/1.1\r\nHost");
    CHECK_THAT(half.rest(), Contains("HTTP/1.1 400 ") || Catch::Equals(""));
    RawClient body(server->url());
    body.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    CHECK_THAT(body.rest(), Contains("HTTP/1.1 400 ") || Catch::Equals(""));
}

TEST_CASE("who sends more than a request may have is refused") {
    HttpOptions limits = options();
    limits.max_request = 10'000;
    const auto server = listen(limits, echo);
    RawClient large(server->url());
    large.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n" + std::string(20'000, 'a'));
    CHECK_THAT(large.rest(), Contains("HTTP/1.1 413 ") && Contains("the body is too large"));
    RawClient announced(server->url());
    announced.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 20000\r\n\r\n");
    CHECK_THAT(announced.rest(), Catch::StartsWith("HTTP/1.1 413 "));
    RawClient headers(server->url());
    std::string many = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < 2000; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
    headers.send(many + "\r\n");
    CHECK_THAT(headers.rest(), Contains("HTTP/1.1 431 "));
    RawClient chunks(server->url());
    chunks.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 20; ++i) chunks.send("3e8\r\n" + std::string(1000, 'a') + "\r\n");
    CHECK_THAT(chunks.rest(), Contains("HTTP/1.1 413 "));
    RawClient with_head(server->url()); // the body alone would be small enough
    with_head.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n" + std::string(10'000, 'a'));
    CHECK_THAT(with_head.rest(), Contains("HTTP/1.1 413 "));
}

TEST_CASE("who waits for a `100 Continue` before he sends the body gets it") {
    const auto server = listen(options(), echo);
    RawClient client(server->url());
    CHECK(client.ask("POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n") ==
          "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK(body_of(client.ask("abc")) == "POST /e  [abc]");
    RawClient old(server->url());
    CHECK_THAT(old.ask("POST /e HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc"),
               Catch::StartsWith("HTTP/1.1 200 "));
}

TEST_CASE("a header Range is ignored, one that cannot be read as well") {
    const auto server = listen(options(), echo);
    RawClient client(server->url());
    for (const char* range : {"bytes=0-1", "bytes=x", "lines=1-2", "bytes=9-2"})
        CHECK(body_of(client.ask(get("/r", std::string("Range: ") + range + "\r\n"))) == "GET /r  []");
    const auto failing = listen(options(), [](const HttpRequest&) -> HttpAnswer { throw std::runtime_error("x"); });
    RawClient failed(failing->url());
    failed.send(get("/", "Range: lines=1-2\r\n"));
    CHECK_THAT(failed.rest(), Contains("HTTP/1.1 500 ") && Contains("Connection: close"));
}

TEST_CASE("who does not take an answer loses it") {
    HttpOptions limits = options();
    limits.send_time = std::chrono::milliseconds{100};
    std::promise<bool> outcome;
    const auto server = listen(limits, [&outcome](const HttpRequest&) {
        HttpAnswer answer = plain({});
        answer.stream = [&outcome](AnswerSink& sink) {
            bool goes_on = true;
            for (int i = 0; goes_on && i < 10'000; ++i) goes_on = sink.write(std::string(100'000, 'a'));
            outcome.set_value(goes_on);
            return goes_on;
        };
        return answer;
    });
    RawClient client(server->url(), 4096);
    client.send(get("/"));
    CHECK_FALSE(outcome.get_future().get());
}

TEST_CASE("when all places are taken, who only waits is ended for a new one; who is at work is not") {
    HttpOptions limits = options();
    limits.max_connections = 4;
    std::promise<void> go;
    std::shared_future<void> gone = go.get_future().share();
    std::atomic<int> at_work{0};
    const auto server = listen(limits, [&](const HttpRequest& request) {
        if (request.path == "/wait") {
            ++at_work;
            gone.wait();
        }
        return echo(request);
    });
    std::vector<std::unique_ptr<RawClient>> workers;
    RawClient idle(server->url());
    CHECK(body_of(idle.ask(get("/"))) == "GET /  []");
    for (int i = 0; i < 3; ++i) {
        workers.push_back(std::make_unique<RawClient>(server->url()));
        workers.back()->send(get("/wait"));
    }
    while (at_work < 3) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    RawClient fifth(server->url());
    fifth.send(get("/wait"));
    CHECK(idle.rest().empty());
    while (at_work < 4) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    RawClient sixth(server->url());
    CHECK_THAT(sixth.rest(), Contains("HTTP/1.1 503 ") && Contains("Retry-After: 1"));
    CHECK(server->counts().turned_away == 1);
    go.set_value();
    for (const auto& worker : workers) CHECK(body_of(worker->answer()) == "GET /wait  []");
    CHECK(body_of(fifth.answer()) == "GET /wait  []");
}

TEST_CASE("the end does not wait for who is silent, and what is being answered is finished") {
    std::promise<void> begun, go;
    auto server = listen(options(), [&](const HttpRequest& request) {
        if (request.path == "/wait") {
            begun.set_value();
            go.get_future().wait();
        }
        return echo(request);
    });
    RawClient silent(server->url()), busy(server->url());
    CHECK(body_of(silent.ask(get("/"))) == "GET /  []");
    busy.send(get("/wait"));
    begun.get_future().wait();
    server->stop();
    CHECK(silent.rest().empty());
    CHECK_FALSE(RawClient::can_connect(server->url())); // or who does would wait until the end
    go.set_value();
    const std::string last = busy.rest();
    CHECK_THAT(last, Contains("GET /wait"));
    server.reset();
}

TEST_CASE("an address that cannot be listened at is named, with the way out") {
    const auto fault = [](const std::string& address) {
        HttpOptions wrong = options();
        wrong.address = address;
        auto server = HttpServer::listen(wrong, echo, [](std::string_view) {});
        REQUIRE_FALSE(server.ok());
        return server.error().text();
    };
    for (const char* address : {"", "9080", ":9080", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "::1:9080"})
        CHECK_THAT(fault(address), Contains("ADDR:PORT is wanted"));
    CHECK_THAT(fault("0.0.0.0:0"), Contains("0.0.0.0:0") && Contains("--allow-plaintext"));
    const auto server = listen(options(), echo);
    CHECK_THAT(fault(server->url().substr(7)), Contains("another program listens there"));
    HttpOptions tls = options();
    tls.tls_cert = tls.tls_key = "/nowhere/cert.pem";
    auto refused = HttpServer::listen(tls, echo, [](std::string_view) {});
    REQUIRE_FALSE(refused.ok());
    CHECK_THAT(refused.error().text(), Contains("/nowhere/cert.pem"));
}
