// SPDX-License-Identifier: Apache-2.0
#pragma once
// MetricPages: the numbers of Metrics answers of more than one page, kept while the pages are fetched. They are kept
// for 30 s and for at most 4 answers, as those of many queues are large.

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "ykd/observe/metric_writer.h"
#include "ykd/request/cursors.h"

namespace yk::service {

struct MetricNumbers; // metric_families.h

/// What of the numbers an answer shows, and how.
struct MetricView {
    std::string prefix; // of the families
    bool as_map = false;
    MetricNames names = MetricNames::Original;
    std::size_t start = 0; // of its page, as in MetricWindow
};

/// Where a page begins.
struct MetricCursor {
    std::shared_ptr<const MetricNumbers> numbers;
    MetricView view;
};

inline constexpr CursorBounds kMetricBounds{
    "metrics-", std::chrono::seconds{30}, std::chrono::seconds{5}, 4, 4, // answers, of all sessions
};

/// Owner: Daemon. Thread: any.
class MetricPages {
public:
    /// Keeps where the next page begins and returns its cursor. `used`: the cursor of this page, which stays valid for
    /// whoever asks again.
    [[nodiscard]] std::string keep(const CursorOwner& owner, MetricCursor next, const std::string& used);
    /// nullopt: unknown, of another session, or too old.
    [[nodiscard]] std::optional<MetricCursor> find(const wire::Sid& session, const std::string& cursor);
    /// The same, for who writes the rest without further pages: nothing of the answer is kept any more.
    [[nodiscard]] std::optional<MetricCursor> take(const wire::Sid& session, const std::string& cursor);
    /// The last page was answered. Its cursor, `used`, stays valid for 5 s, in case the answer does not arrive.
    void end(const wire::Sid& session, const std::string& used);
    /// Drops what was kept for too long.
    void sweep();

private:
    std::mutex mutex_;
    Cursors<MetricCursor, kMetricBounds> cursors_;
};

} // namespace yk::service
