#include "libcore/placement/placement.h"

#include "libcore/config/names.h"

namespace yk::placement {

namespace {

/// C-326: the path that the rule `provided` makes of the queue that was asked for; empty: no match.
std::string provided_path(std::string_view wanted) {
    if (wanted.empty() || wanted.substr(0, 5) == "root.") return std::string{wanted};
    std::string name;
    for (const char c : wanted) c == '.' ? name.append("_dot_") : name.append(1, c); // C-323
    return "root." + name;
}

/// C-323: each part below root must be a legal name; the first that is not.
std::string illegal_part(std::string_view path) {
    std::size_t start = path.find('.') + 1;
    while (true) {
        const std::size_t dot = path.find('.', start);
        const std::string_view part = path.substr(start, dot - start);
        if (!config::is_queue_name(part)) return "'" + std::string{part} + "'";
        if (dot == std::string_view::npos) return {};
        start = dot + 1;
    }
}

/// C-432: a leaf below a draining parent counts as draining.
bool is_draining(const Queue& queue) {
    for (const Queue* each = &queue; each != nullptr; each = each->parent)
        if (each->state != ObjectState::Active) return true;
    return false;
}

/// C-330: why the queue cannot take the application; empty when it can.
std::string unusable(const Queue* queue, std::string_view path) {
    const std::string name = "queue " + std::string{path};
    if (queue == nullptr) return name + " does not exist";
    if (!queue->leaf) return name + " is not a leaf";
    if (is_draining(*queue)) return name + " is draining";
    return {};
}

} // namespace

Outcome place(const ApplicationSpec& spec, const PartitionState& state) {
    std::string why = "no queue was asked for";
    if (const std::string path = provided_path(spec.queue); !path.empty()) {
        if (const std::string part = illegal_part(path); !part.empty())
            return {nullptr, std::string{config::kInvalidQueueName} + ": " + part};
        Queue* queue = state.find_queue(path);
        why = unusable(queue, path);
        if (why.empty()) return {queue, {}};
    }
    Queue* fallback = state.find_queue("root.default"); // C-340
    if (fallback != nullptr && unusable(fallback, fallback->path).empty()) return {fallback, {}};
    return {nullptr, "application rejected: no placement rule matched (provided: " + why + ")"};
}

} // namespace yk::placement
