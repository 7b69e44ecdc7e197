// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/metric_pages.h"

namespace yk::service {

std::string MetricPages::keep(const CursorOwner& owner, MetricCursor next, const std::string& used) {
    const std::lock_guard lock(mutex_);
    return cursors_.keep(owner, std::move(next), 1, used);
}

std::optional<MetricCursor> MetricPages::find(const wire::Sid& session, const std::string& cursor) {
    const std::lock_guard lock(mutex_);
    return cursors_.find(session, cursor);
}

std::optional<MetricCursor> MetricPages::take(const wire::Sid& session, const std::string& cursor) {
    const std::lock_guard lock(mutex_);
    return cursors_.take(session, cursor);
}

void MetricPages::end(const wire::Sid& session, const std::string& used) {
    const std::lock_guard lock(mutex_);
    cursors_.end(session, used);
}

void MetricPages::sweep() {
    const std::lock_guard lock(mutex_);
    cursors_.sweep();
}

} // namespace yk::service
