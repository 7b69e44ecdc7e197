#include "ykd/service/metric_pages.h"

namespace yk::service {

std::string MetricPages::keep(const CursorOwner& owner, MetricPlace place, const std::string& used) {
    const std::lock_guard lock(mutex_);
    return cursors_.keep(owner, std::move(place), 1, used);
}

std::optional<MetricPlace> MetricPages::find(const wire::Sid& session, const std::string& cursor) {
    const std::lock_guard lock(mutex_);
    return cursors_.find(session, cursor);
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
