// SPDX-License-Identifier: Apache-2.0
#include "protocol/metric_pages/http/curl_pages.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "libcore/base/check.h"

namespace yk::pages {
namespace {

constexpr int kLongestSleep = 60'000; // ms; it is woken when there is something to do
constexpr long kOk = 200;

/// Once in a process, before all else.
void begin_library() {
    static const CURLcode begun = ::curl_global_init(CURL_GLOBAL_DEFAULT);
    YK_CHECK(begun == CURLE_OK, "libcurl begins");
}

[[nodiscard]] std::string seconds_text(Duration duration) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(duration).count()) + " s";
}

} // namespace

/// One page on its way. Owner: CurlPages. Thread: its thread.
class CurlPages::Transfer {
public:
    explicit Transfer(Request request) : request_(std::move(request)), easy_(::curl_easy_init()) {
        YK_CHECK(easy_ != nullptr, "there is memory for a transfer");
        set_options();
    }
    ~Transfer() {
        ::curl_slist_free_all(headers_);
        ::curl_easy_cleanup(easy_);
    }
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    [[nodiscard]] CURL* easy() const { return easy_; }
    void finish(CURLcode code) const { request_.done(reason_of(code)); }

private:
    void set_options() {
        const auto timeout = static_cast<long>(
            std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(request_.timeout).count()));
        headers_ = ::curl_slist_append(nullptr, "Accept: text/plain;version=0.0.4");
        ::curl_easy_setopt(easy_, CURLOPT_URL, request_.url.c_str());
        ::curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
        ::curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
        ::curl_easy_setopt(easy_, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
        ::curl_easy_setopt(easy_, CURLOPT_PROXY, ""); // none, whatever the environment says
        ::curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
        ::curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L); // no end waits for a name service that hangs
        ::curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, timeout);
        ::curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
        ::curl_easy_setopt(easy_, CURLOPT_USERAGENT, "ykd");
        ::curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &Transfer::on_head);
        ::curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
        ::curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Transfer::on_bytes);
        ::curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
    }

    [[nodiscard]] long status() const {
        long status = 0;
        ::curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
        return status;
    }
    static std::size_t on_head(const char* /*bytes*/, std::size_t size, std::size_t count, void* self) {
        auto& transfer = *static_cast<Transfer*>(self);
        transfer.head_ += size * count;
        if (transfer.head_ <= kLongestHead) return size * count;
        transfer.refusal_ = "its head is longer than " + std::to_string(kLongestHead) + " bytes";
        return 0;
    }
    /// Returning less than there is ends the transfer.
    static std::size_t on_bytes(const char* bytes, std::size_t size, std::size_t count, void* self) {
        auto& transfer = *static_cast<Transfer*>(self);
        return transfer.takes({bytes, size * count}) ? size * count : 0;
    }
    bool takes(std::string_view bytes) {
        if (status() != kOk) return false;
        length_ += bytes.size();
        if (length_ > kLongestPage) {
            refusal_ = "the page is longer than " + std::to_string(kLongestPage) + " bytes";
            return false;
        }
        is_enough_ = !request_.take(bytes);
        return !is_enough_;
    }

    [[nodiscard]] std::string reason_of(CURLcode code) const {
        if (!refusal_.empty()) return refusal_;
        if (is_enough_) return {};
        if (const long answered = status(); answered != 0 && answered != kOk) {
            const bool is_redirect = answered >= 300 && answered < 400;
            return "it answered " + std::to_string(answered) + (is_redirect ? ", and redirects are not followed" : "");
        }
        if (code == CURLE_OPERATION_TIMEDOUT) return "it took longer than " + seconds_text(request_.timeout);
        return code == CURLE_OK ? std::string{} : ::curl_easy_strerror(code);
    }

    const Request request_;
    CURL* const easy_;
    curl_slist* headers_ = nullptr;
    std::size_t head_ = 0, length_ = 0; // bytes that came
    std::string refusal_;               // why it was given up here
    bool is_enough_ = false;
};

void CurlPages::MultiCloser::operator()(void* multi) const {
    ::curl_multi_cleanup(multi);
}

CurlPages::CurlPages() : multi_((begin_library(), ::curl_multi_init())) {
    YK_CHECK(multi_ != nullptr, "there is memory for transfers");
    ::curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(kMostAtOnce));
}

CurlPages::~CurlPages() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    ::curl_multi_wakeup(multi_.get());
    thread_.end();
    for (const auto& [easy, transfer] : transfers_) ::curl_multi_remove_handle(multi_.get(), easy);
    transfers_.clear();
}

void CurlPages::fetch(Request request) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(request));
    if (!thread_.is_started())
        thread_.start(
            "metric-pages", [this] { run(); }, [this] { return step(); });
    ::curl_multi_wakeup(multi_.get());
}

void CurlPages::run() {
    while (!is_stopping()) {
        begin_waiting();
        int count = 0;
        ::curl_multi_perform(multi_.get(), &count);
        end_finished();
        if (transfers_.size() < kMostAtOnce && has_waiting()) continue;
        ::curl_multi_poll(multi_.get(), nullptr, 0, kLongestSleep, nullptr); // what comes in wakes it, also before
    }
}

/// A simulation has no network.
std::optional<Simulator::Clock::time_point> CurlPages::step() {
    while (const auto request = next_request()) request->done("a simulation has no network");
    return Simulator::Clock::time_point::max();
}

bool CurlPages::is_stopping() {
    const std::lock_guard lock(mutex_);
    return is_stopping_;
}

bool CurlPages::has_waiting() {
    const std::lock_guard lock(mutex_);
    return !waiting_.empty();
}

std::optional<PageClient::Request> CurlPages::next_request() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || is_stopping_) return std::nullopt;
    Request request = std::move(waiting_.front());
    waiting_.pop_front();
    return request;
}

void CurlPages::begin_waiting() {
    while (transfers_.size() < kMostAtOnce) {
        auto request = next_request();
        if (!request) return;
        auto transfer = std::make_unique<Transfer>(*std::move(request));
        CURL* const easy = transfer->easy();
        ::curl_multi_add_handle(multi_.get(), easy);
        transfers_.emplace(easy, std::move(transfer));
    }
}

void CurlPages::end_finished() {
    int left = 0;
    while (const CURLMsg* const message = ::curl_multi_info_read(multi_.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        const CURLcode code = message->data.result; // the message goes with the handle
        const auto found = transfers_.find(message->easy_handle);
        YK_CHECK(found != transfers_.end(), "only what was begun ends");
        const std::unique_ptr<Transfer> transfer = std::move(found->second);
        transfers_.erase(found);
        ::curl_multi_remove_handle(multi_.get(), transfer->easy());
        transfer->finish(code);
    }
}

} // namespace yk::pages
