#include "ykd/service/metric_pages.h"

#include <algorithm>
#include <set>

namespace yk::service {
namespace {

constexpr auto kKeep = std::chrono::seconds{30};
constexpr auto kKeepLast = std::chrono::seconds{5}; // when all pages were answered
constexpr std::size_t kMostAnswers = 2;             // of all sessions

} // namespace

std::string MetricPages::keep(const wire::Sid& session, MetricPlace place, const std::string& used) {
    const std::lock_guard lock(mutex_);
    cursors_.sweep();
    auto& kept = cursors_.kept();
    std::erase_if(kept, [&](const auto& one) { return one.place.numbers == place.numbers && one.cursor != used; });
    kept.push_back({"metrics-" + std::to_string(++last_), session, std::move(place), SteadyClock::now() + kKeep});
    std::set<const MetricNumbers*> answers;
    for (const auto& one : kept) answers.insert(one.place.numbers.get());
    if (answers.size() > kMostAnswers)
        std::erase_if(kept,
                      [oldest = kept.front().place.numbers](const auto& one) { return one.place.numbers == oldest; });
    return kept.back().cursor;
}

std::optional<MetricPlace> MetricPages::find(const wire::Sid& session, const std::string& cursor) {
    const std::lock_guard lock(mutex_);
    return cursors_.find(session, cursor);
}

void MetricPages::end(const MetricNumbers& numbers, const std::string& used) {
    const std::lock_guard lock(mutex_);
    auto& kept = cursors_.kept();
    std::erase_if(kept, [&](const auto& one) { return one.place.numbers.get() == &numbers && one.cursor != used; });
    for (auto& one : kept)
        if (one.place.numbers.get() == &numbers) one.until = std::min(one.until, SteadyClock::now() + kKeepLast);
}

void MetricPages::sweep() {
    const std::lock_guard lock(mutex_);
    cursors_.sweep();
}

} // namespace yk::service
