#pragma once
// The numbers of Metrics answers of more than one page, kept while the pages are fetched: 30 s, few of them, since
// those of many queues are large.

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "protocol/wire/envelope.h"
#include "ykd/runtime/clock.h"

namespace yk::service {

struct MetricNumbers; // metrics.cpp

/// Where a page begins.
struct MetricPlace {
    std::shared_ptr<const MetricNumbers> numbers;
    std::string prefix;
    bool as_map = false;
    std::size_t start = 0; // of MetricWindow
};

/// Thread: any.
class MetricPages {
public:
    /// The cursor of the next page. `used`: that of this one, which stays for whoever asks again.
    [[nodiscard]] std::string keep(const wire::Sid& session, MetricPlace place, const std::string& used);
    /// nullopt: unknown, of another session, or too old.
    [[nodiscard]] std::optional<MetricPlace> find(const wire::Sid& session, const std::string& cursor);
    void sweep();

private:
    struct Kept {
        std::string cursor;
        wire::Sid session;
        MetricPlace place;
        SteadyClock::time_point until;
    };
    void sweep_locked();

    std::mutex mutex_;
    std::list<Kept> kept_; // oldest first
    std::uint64_t last_ = 0;
};

} // namespace yk::service
