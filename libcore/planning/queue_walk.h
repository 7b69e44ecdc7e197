// SPDX-License-Identifier: Apache-2.0
#pragma once
// QueueWalk: the queues of a partition page by page, while queues may be added and removed between two pages.
//
// Pure: reads the queues. Thread: the partition's owner. Cost: the queues visited, and the depth to find the first one.

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "libcore/model/queue.h"

namespace yk {

/// All queues of a partition, each before its children, siblings by name; continues where another walk stopped.
template <class Take>
class QueueWalk {
public:
    /// take(const Queue&) returns false to stop the walk; the queue then counts as not visited.
    explicit QueueWalk(Take take) : take_(std::move(take)) {}

    /// From the root on, or from behind the queue with the path `last`, which may have been removed. Whether the walk
    /// came to its end.
    bool run(const Queue& root, std::string_view last) {
        return last.empty() ? all(root) : after(root, last.substr(std::min(last.size(), root.path.size() + 1)));
    }

private:
    bool all(const Queue& queue) { return take_(queue) && children(queue, queue.children.begin()); }
    /// `done`: the path of the last visited queue relative to `queue`; empty: it was `queue` itself.
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
