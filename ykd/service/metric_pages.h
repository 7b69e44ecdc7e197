#pragma once
// The numbers of Metrics answers of more than one page, kept while the pages are fetched: 30 s, few of them, since
// those of many queues are large.

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "ykd/service/cursors.h"

namespace yk::service {

struct MetricNumbers; // metrics.cpp

/// Where a page begins.
struct MetricPlace {
    std::shared_ptr<const MetricNumbers> numbers;
    std::string prefix;
    bool as_map = false;
    std::size_t start = 0; // of MetricWindow
};

inline constexpr CursorBounds kMetricBounds{
    "metrics-", std::chrono::seconds{30}, std::chrono::seconds{5}, 4, 4, // answers, of all sessions
};

/// Thread: any.
class MetricPages {
public:
    /// The cursor of the next page. `used`: that of this one, which stays for whoever asks again.
    [[nodiscard]] std::string keep(const CursorOwner& owner, MetricPlace place, const std::string& used);
    /// nullopt: unknown, of another session, or too old.
    [[nodiscard]] std::optional<MetricPlace> find(const wire::Sid& session, const std::string& cursor);
    /// The last page was answered; its cursor, `used`, stays for a moment, for whom the answer does not reach.
    void end(const wire::Sid& session, const std::string& used);
    void sweep();

private:
    std::mutex mutex_;
    Cursors<MetricPlace, kMetricBounds> cursors_;
};

} // namespace yk::service
