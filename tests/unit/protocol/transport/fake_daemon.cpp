// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/protocol/transport/fake_daemon.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>

#include "libcore/base/check.h"
#include "tests/support/nng_raii.h"

namespace yk::test {

wire::Value hello_reply(char sid, char boot, bool resumed, std::uint64_t last_seq) {
    const auto bytes = [](char c) {
        return wire::Value::binary(std::vector<std::uint8_t>(16, static_cast<std::uint8_t>(c)));
    };
    return {{"version", 1},
            {"sid", bytes(sid)},
            {"bootID", bytes(boot)},
            {"server", {{"name", "fake"}}},
            {"resumed", resumed},
            {"lastSeq", last_seq},
            {"rms", wire::Value::array()},
            {"limits", {{"maxMessage", 100'000}}},
            {"features", wire::Value::array()},
            {"role", "admin"}};
}

struct FakeDaemon::Impl {
    nng_socket socket = NNG_SOCKET_INITIALIZER;
    nng_listener listener = NNG_LISTENER_INITIALIZER;
};

FakeDaemon::FakeDaemon(const std::string& url, std::function<Answer(const Seen&)> answer)
    : answer_(std::move(answer)), hello_(hello_reply('s', 'b')), impl_(std::make_unique<Impl>()) {
    YK_CHECK(nng_rep0_open(&impl_->socket) == 0, "a socket opens");
    nng_socket_set_ms(impl_->socket, NNG_OPT_RECVTIMEO, 20); // to look at stopping_
    const int code = nng_listen(impl_->socket, url.c_str(), &impl_->listener, 0);
    YK_CHECK(code == 0, "the fake daemon listens");
    thread_ = std::thread{[this] { run(); }};
}

FakeDaemon::~FakeDaemon() {
    stopping_ = true;
    thread_.join();
    nng_close(impl_->socket);
}

void FakeDaemon::set_hello(wire::Value reply) {
    const std::lock_guard lock{mutex_};
    hello_ = std::move(reply);
}

int FakeDaemon::port() const {
    int port = 0;
    nng_listener_get_int(impl_->listener, NNG_OPT_TCP_BOUND_PORT, &port);
    return port;
}

std::vector<Seen> FakeDaemon::seen() const {
    const std::lock_guard lock{mutex_};
    return seen_;
}

std::vector<Seen> FakeDaemon::seen(const std::string& kind) const {
    std::vector<Seen> found;
    for (const Seen& request : seen())
        if (request.kind == kind) found.push_back(request);
    return found;
}

Answer FakeDaemon::answer_to(const Seen& request) {
    {
        const std::lock_guard lock{mutex_};
        seen_.push_back(request);
        if (request.kind == "Hello" && !script_hello_) return hello_;
    }
    return answer_(request);
}

void FakeDaemon::run() {
    while (!stopping_) {
        nng_msg* raw = nullptr;
        if (nng_recvmsg(impl_->socket, &raw, 0) != 0) continue;
        const wire::NngMessage message{raw};
        const auto request = wire::decode_request(wire::bytes_of(message));
        YK_CHECK(request.ok(), "clients send sound requests");
        const Answer answer = answer_to({std::string{request->kind}, request->id,
                                         request->sid ? std::string{wire::bytes_of(*request->sid)} : "", request->seq,
                                         request->ttl_ms, wire::decode_value(request->body)});
        wire::Buffer out;
        if (const auto* body = std::get_if<wire::Value>(&answer)) wire::encode_ok(out, request->echo(), *body);
        if (const auto* error = std::get_if<wire::ErrorReply>(&answer))
            wire::encode_error(out, request->echo(), *error);
        if (const auto* bytes = std::get_if<Raw>(&answer)) out.append(bytes->bytes);
        if (std::holds_alternative<Cut>(answer)) nng_pipe_close(nng_msg_get_pipe(message.get()));
        if (out.empty()) continue;
        nng_sendmsg(impl_->socket, wire::make_message(out.view()).release(), 0);
    }
}

} // namespace yk::test
