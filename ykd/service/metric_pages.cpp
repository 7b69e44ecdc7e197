#include "ykd/service/metric_pages.h"

#include <algorithm>
#include <set>

namespace yk::service {
namespace {

constexpr auto kKeep = std::chrono::seconds{30};
constexpr std::size_t kMostAnswers = 2; // of all sessions

} // namespace

std::string MetricPages::keep(const wire::Sid& session, MetricPlace place, const std::string& used) {
    const std::lock_guard lock(mutex_);
    sweep_locked();
    kept_.remove_if([&](const Kept& one) { return one.place.numbers == place.numbers && one.cursor != used; });
    kept_.push_back({"metrics-" + std::to_string(++last_), session, std::move(place), SteadyClock::now() + kKeep});
    std::set<const MetricNumbers*> answers;
    for (const Kept& one : kept_) answers.insert(one.place.numbers.get());
    if (answers.size() > kMostAnswers)
        kept_.remove_if([oldest = kept_.front().place.numbers.get()](const Kept& one) {
            return one.place.numbers.get() == oldest;
        });
    return kept_.back().cursor;
}

std::optional<MetricPlace> MetricPages::find(const wire::Sid& session, const std::string& cursor) {
    const std::lock_guard lock(mutex_);
    sweep_locked();
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Kept& one) { return one.cursor == cursor && one.session == session; });
    return found == kept_.end() ? std::nullopt : std::optional{found->place};
}

void MetricPages::sweep() {
    const std::lock_guard lock(mutex_);
    sweep_locked();
}

void MetricPages::sweep_locked() {
    const auto now = SteadyClock::now();
    kept_.remove_if([now](const Kept& one) { return one.until <= now; });
}

} // namespace yk::service
