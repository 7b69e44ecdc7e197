#include "protocol/transport/probe.h"

#include <fmt/format.h>
#include <nng/nng.h>
#include <nng/supplemental/tls/tls.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "protocol/transport/ipc_path.h"
#include "protocol/transport/sp_frames.h"

namespace yk::wire {
namespace {

constexpr std::string_view kReqGreeting{"\0SP\0\0\x30\0\0", 8};
constexpr std::string_view kNumber{"\x80\0\0\x01", 4};

bool is_tls(const std::string& url) {
    return url.rfind("tls+", 0) == 0;
}

/// What a server listens at on all addresses can be dialled at the machine's own.
std::string dialable(std::string url) {
    for (const auto& [any, own] : {std::pair<std::string_view, std::string_view>{"//0.0.0.0:", "//127.0.0.1:"},
                                   {"//[::]:", "//[::1]:"},
                                   {"//*:", "//127.0.0.1:"},
                                   {"//:", "//127.0.0.1:"}})
        if (const std::size_t at = url.find(any); at != std::string::npos) url.replace(at, any.size(), own);
    return url;
}

/// One aio whose end is waited for with a deadline of our own: those of nng 1.5 can be missed (nng #1486).
class Step {
public:
    Step() : made_(nng_aio_alloc(&aio_, done, this) == 0) {}
    ~Step() {
        if (!made_) return;
        nng_aio_stop(aio_);
        nng_aio_free(aio_);
    }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

    [[nodiscard]] bool made() const { return made_; }
    [[nodiscard]] nng_aio* aio() const { return aio_; }
    void begin(char* data, std::size_t size) {
        nng_iov piece{data, size};
        nng_aio_set_iov(aio_, 1, &piece);
        begin();
    }
    void begin() {
        const std::lock_guard lock(mutex_);
        ended_ = false;
    }
    /// False: not in time.
    [[nodiscard]] bool wait(std::chrono::steady_clock::time_point until) {
        std::unique_lock lock(mutex_);
        return bell_.wait_until(lock, until, [this] { return ended_; });
    }

private:
    static void done(void* self) {
        auto* step = static_cast<Step*>(self);
        const std::lock_guard lock(step->mutex_);
        step->ended_ = true;
        step->bell_.notify_all();
    }
    std::mutex mutex_;
    std::condition_variable bell_;
    bool ended_ = false;
    nng_aio* aio_ = nullptr;
    bool made_;
};

struct FreeDialer {
    void operator()(nng_stream_dialer* dialer) const {
        nng_stream_dialer_close(dialer);
        nng_stream_dialer_free(dialer);
    }
};
struct FreeStream {
    void operator()(nng_stream* stream) const { nng_stream_free(stream); }
};
using Dialer = std::unique_ptr<nng_stream_dialer, FreeDialer>;
using Stream = std::unique_ptr<nng_stream, FreeStream>;

/// Who listens here is known: nothing has to be verified.
int trust_anybody(nng_stream_dialer* dialer) {
    nng_tls_config* config = nullptr;
    if (const int code = nng_tls_config_alloc(&config, NNG_TLS_MODE_CLIENT); code != 0) return code;
    nng_tls_config_auth_mode(config, NNG_TLS_AUTH_MODE_NONE);
    const int code = nng_stream_dialer_set_ptr(dialer, NNG_OPT_TLS_CONFIG, config);
    nng_tls_config_free(config); // the dialer has a reference of its own
    return code;
}

class Probe {
public:
    Probe(const std::string& url, std::chrono::milliseconds patience)
        : url_(url), until_(std::chrono::steady_clock::now() + patience) {}

    Result<void> run(std::string_view text) {
        if (!step_.made()) return failed("memory", NNG_ENOMEM);
        YK_CHECKED(dial());
        YK_CHECKED(send(text));
        Result<void> answered = receive();
        nng_stream_close(stream_.get()); // before `step_` is freed: it finishes what is under way
        return answered;
    }

private:
    [[nodiscard]] Error failed(const char* what, int code) const {
        return Error{
            0,
            fmt::format("{} does not answer a request of the daemon itself: {}: {}", url_, what, nng_strerror(code)),
            {}};
    }
    Result<void> end_of_step(const char* what) {
        if (!step_.wait(until_)) {
            if (stream_) nng_stream_close(stream_.get());
            return failed(what, NNG_ETIMEDOUT);
        }
        if (const int code = nng_aio_result(step_.aio()); code != 0) return failed(what, code);
        return {};
    }
    Result<void> dial() {
        nng_stream_dialer* dialer = nullptr;
        if (const int code = nng_stream_dialer_alloc(&dialer, dialable(url_).c_str()); code != 0)
            return failed("address", code);
        dialer_.reset(dialer);
        if (is_tls(url_))
            if (const int code = trust_anybody(dialer); code != 0) return failed("TLS", code);
        step_.begin();
        nng_stream_dialer_dial(dialer, step_.aio());
        YK_CHECKED(end_of_step("connecting"));
        stream_.reset(static_cast<nng_stream*>(nng_aio_get_output(step_.aio(), 0)));
        return {};
    }
    Result<void> send(std::string_view text) {
        const FrameHead head(!ipc_path_of(url_).empty(), kNumber.size() + text.size());
        std::string bytes{kReqGreeting};
        bytes.append(head.bytes()).append(kNumber).append(text);
        for (std::size_t sent = 0; sent < bytes.size(); sent += nng_aio_count(step_.aio())) {
            step_.begin(bytes.data() + sent, bytes.size() - sent);
            nng_stream_send(stream_.get(), step_.aio());
            const auto ended = end_of_step("sending");
            if (!ended.ok()) return refused_by_tls() ? Result<void>{} : ended;
        }
        return {};
    }
    /// The greeting, then the first byte of a reply.
    Result<void> receive() {
        for (std::size_t have = 0; have <= kReqGreeting.size(); have += nng_aio_count(step_.aio())) {
            step_.begin(reply_.data(), reply_.size());
            nng_stream_recv(stream_.get(), step_.aio());
            const auto ended = end_of_step("the answer");
            if (!ended.ok()) return refused_by_tls() ? Result<void>{} : ended;
        }
        return {};
    }
    [[nodiscard]] bool refused_by_tls() const { return is_tls(url_) && std::chrono::steady_clock::now() < until_; }

    const std::string url_;
    const std::chrono::steady_clock::time_point until_;
    std::array<char, 256> reply_{};
    Dialer dialer_;
    Stream stream_;
    Step step_; // last: freed first, when nothing uses it any more
};

} // namespace

bool can_probe(const std::string& url) {
    return url.size() < 2 || url.compare(url.size() - 2, 2, ":0") != 0;
}

Result<void> probe(const std::string& url, std::string_view text, std::chrono::milliseconds patience) {
    return Probe(url, patience).run(text);
}

} // namespace yk::wire
