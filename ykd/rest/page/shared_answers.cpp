// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/page/shared_answers.h"

#include <algorithm>
#include <utility>

namespace yk::service {
namespace {

constexpr Duration kLeastAge = std::chrono::seconds{1};
constexpr int kAgeForTime = 50; // times what it took

/// No less than the time.
std::string milliseconds_text(Duration time) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

} // namespace

http::HttpAnswer SharedAnswers::get(const std::string& name, const std::function<http::HttpAnswer()>& make) {
    std::unique_lock lock(mutex_);
    made_.wait(lock, [&] {
        const auto found = kept_.find(name);
        return found == kept_.end() || !found->second.is_being_made;
    });
    const Instant began = clock_();
    if (const auto found = kept_.find(name); found != kept_.end() && began < found->second.until) {
        const Kept kept = found->second;
        lock.unlock();
        http::HttpAnswer answer = *kept.answer;
        answer.headers.emplace_back("Answer-Age", milliseconds_text(began - kept.began));
        answer.headers.emplace_back("Answer-Kept", milliseconds_text(kept.until - began));
        return answer;
    }
    drop_oldest();
    kept_[name].is_being_made = true;
    lock.unlock();

    auto answer = std::make_shared<const http::HttpAnswer>(make());
    const Instant now = clock_();
    lock.lock();
    if (answer->status == 200)
        kept_[name] = {answer, began, now + std::max(kLeastAge, kAgeForTime * (now - began)), false};
    else
        kept_.erase(name);
    lock.unlock();
    made_.notify_all();
    return *answer;
}

/// REQUIRES: the mutex is held.
void SharedAnswers::drop_oldest() {
    if (kept_.size() < kMostKept) return;
    auto oldest = kept_.end();
    for (auto each = kept_.begin(); each != kept_.end(); ++each)
        if (!each->second.is_being_made && (oldest == kept_.end() || each->second.until < oldest->second.until))
            oldest = each;
    if (oldest != kept_.end()) kept_.erase(oldest);
}

} // namespace yk::service
