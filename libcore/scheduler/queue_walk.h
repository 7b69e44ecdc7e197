#pragma once
// QueueWalk: the queues of a partition a piece at a time, while queues may come and go in between.

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "libcore/objects/queue.h"

namespace yk {

/// All queues of a partition, each before its children, by name; goes on where another walk stopped.
template <class Take>
class QueueWalk {
public:
    /// take(const Queue&) returns false when it does not take this one and no other.
    explicit QueueWalk(Take take) : take_(std::move(take)) {}

    /// From the root on, or from behind the queue with the path `last`, which may be gone.
    bool run(const Queue& root, std::string_view last) {
        return last.empty() ? all(root) : after(root, last.substr(std::min(last.size(), root.path.size() + 1)));
    }

private:
    bool all(const Queue& queue) { return take_(queue) && children(queue, queue.children.begin()); }
    /// `done`: the path below `queue` of the last one; empty: it was `queue`.
    bool after(const Queue& queue, std::string_view done) {
        if (done.empty()) return children(queue, queue.children.begin());
        const std::string_view name = done.substr(0, done.find('.'));
        auto next = queue.children.lower_bound(name);
        if (next == queue.children.end() || next->first != name) return children(queue, next);
        const std::string_view rest = done.size() == name.size() ? std::string_view{} : done.substr(name.size() + 1);
        return after(*next->second, rest) && children(queue, std::next(next));
    }
    template <class Iterator>
    bool children(const Queue& queue, Iterator next) {
        for (; next != queue.children.end(); ++next)
            if (!all(*next->second)) return false;
        return true;
    }

    Take take_;
};

} // namespace yk
