// SPDX-License-Identifier: Apache-2.0
#pragma once
// CurlPages: fetches pages over HTTP by libcurl, on a thread of its own, which begins with the first page. It goes to
// the address that it is given and nowhere else: no redirect is followed, no proxy of the environment is used, no name
// and password is taken from a file. A page that is too long, or that takes too long, is given up.
//
// Owner: whoever wants pages. Thread: any for fetch(); the owner's for the rest.

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "protocol/metric_pages/page_client.h"
#include "protocol/simulation/loop_thread.h"

namespace yk::pages {

class CurlPages final : public PageClient {
public:
    static constexpr std::size_t kLongestPage = std::size_t{8} << 20U; // bytes
    static constexpr std::size_t kLongestHead = std::size_t{64} << 10U;
    static constexpr std::size_t kMostAtOnce = 16; // others wait for their turn

    CurlPages();
    /// What is under way is given up.
    ~CurlPages() override;

    void fetch(Request request) override;

private:
    class Transfer;

    void run();
    std::optional<Simulator::Clock::time_point> step();
    [[nodiscard]] std::optional<Request> next_request();
    void begin_waiting();
    void end_finished();
    [[nodiscard]] bool is_stopping();
    [[nodiscard]] bool has_waiting();

    struct MultiCloser {
        void operator()(void* multi) const;
    };
    const std::unique_ptr<void, MultiCloser> multi_;       // libcurl's; waking it is for any thread
    std::map<void*, std::unique_ptr<Transfer>> transfers_; // under way; of the thread
    std::mutex mutex_;                                     // guards what follows, up to the next comment
    std::deque<Request> waiting_;
    bool is_stopping_ = false;
    LoopThread thread_; // the last one: it ends first
};

} // namespace yk::pages
