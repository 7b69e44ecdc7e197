// SPDX-License-Identifier: Apache-2.0
#pragma once
// ChangeFeed: sends open pages what changed, as Server-Sent Events. The events of the daemon are read once a second for
// all pages together, and come down to the names of what they are about; so ten thousand of them a second, or fifty
// pages, cost no more than a few.
//
// Owner: OwnPage. Thread: any; the events are read on a thread of its own.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "protocol/http/http_message.h"
#include "ykd/rest/exchange/rest_caller.h"

namespace yk::service {

/// The names of what changed, at most so many of a kind.
class ChangedNames {
public:
    static constexpr std::size_t kMost = 100;

    /// Takes an event as the protocol has it.
    void add(const wire::Value& record);
    /// There was more than is known.
    void lose() { has_more_ = true; }
    [[nodiscard]] bool is_empty() const;
    /// {applications, nodes, queues [str], more bool}
    [[nodiscard]] wire::Value value() const;

private:
    using Names = std::set<std::string>;
    void add_to(Names& names, const std::string& name);

    Names applications_, nodes_, queues_;
    bool has_more_ = false;
};

class ChangeFeed {
public:
    explicit ChangeFeed(const RestPort& port) : port_(port) {}
    ~ChangeFeed() { stop(); }
    ChangeFeed(const ChangeFeed&) = delete;
    ChangeFeed& operator=(const ChangeFeed&) = delete;

    /// A stream of what changes from now on, until the client or the daemon goes; 503 when too many are open.
    [[nodiscard]] http::HttpAnswer stream();
    /// Ends the streams, and does not wait; no more of them are opened.
    void finish();
    /// The same, and no event is read any more.
    void stop();

    static constexpr std::size_t kMostReaders = 64; // half of the places for connections (http.maxConnections)

private:
    /// One stream. It leaves when it is destroyed.
    class Reader;
    /// What was sent last.
    struct News {
        std::uint64_t number = 0; // of this; each is one more than the one before
        std::string data;         // the text of the message
        std::string uuid;         // of the daemon's start
    };
    void run();
    [[nodiscard]] bool read_events(RestCaller& caller);
    void publish(std::string data, const std::string& uuid);

    const RestPort& port_;
    std::optional<std::uint64_t> next_; // event; of the thread
    std::mutex mutex_;                  // guards the following
    std::condition_variable changed_;
    std::thread thread_;
    News latest_;
    std::size_t readers_ = 0;
    bool is_stopped_ = false;
};

} // namespace yk::service
