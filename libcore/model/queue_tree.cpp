// SPDX-License-Identifier: Apache-2.0
#include "libcore/model/queue_tree.h"

#include <string>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/config/names.h"

namespace yk {

Queue& QueueTree::add(std::string_view name, Queue* parent, bool leaf) noexcept {
    YK_ASSUME((parent == nullptr) == (root_ == nullptr),
              "the first queue is the root, and the only one without parent");
    YK_ASSUME(parent == nullptr || !parent->children.contains(name), "the children of a queue have different names");
    if (free_numbers_.empty()) {
        free_numbers_.push_back(static_cast<std::uint32_t>(by_number_.size()));
        by_number_.push_back(nullptr);
    }
    const std::uint32_t number = free_numbers_.back();
    std::string path = parent == nullptr ? std::string{name} : parent->path + "." + std::string{name};
    auto made = std::make_unique<Queue>(std::move(path), parent, leaf, number, applications_, by_number_);
    Queue& queue = *made;
    if (parent == nullptr)
        root_ = std::move(made);
    else
        parent->children.emplace(queue.name, std::move(made));
    free_numbers_.pop_back();
    by_number_[number] = &queue;
    return queue;
}

void QueueTree::remove(Queue& queue) noexcept {
    YK_ASSUME(!queue.is_root(), "the root stays");
    YK_ASSUME(queue.children.empty() && queue.applications.empty(), "nobody is left in a queue that goes");
    by_number_[queue.index] = nullptr;
    free_numbers_.push_back(queue.index);
    queue.parent->children.erase(queue.name);
}

Queue* QueueTree::find(std::string_view path) const {
    const std::string lower = config::lower(path);
    if (lower.substr(0, lower.find('.')) != "root") return nullptr;
    Queue& queue = find_deepest(lower);
    return queue.path == lower ? &queue : nullptr;
}

Queue& QueueTree::find_deepest(std::string_view path) const {
    YK_ASSUME(path.substr(0, path.find('.')) == "root", "a path begins at the root");
    Queue* queue = root_.get();
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos;) {
        const std::size_t next = path.find('.', dot + 1);
        const auto child = queue->children.find(path.substr(dot + 1, next - dot - 1));
        if (child == queue->children.end()) break;
        queue = child->second.get();
        dot = next;
    }
    return *queue;
}

} // namespace yk
