#pragma once
// LeafPlan: the leaf that an application goes to, as it will be with the application in it. Made on const state, so
// that an application that is refused leaves no queue made or changed behind (S-491).

#include <optional>
#include <string>

#include "libcore/objects/queue.h"

namespace yk {

struct LeafPlan {
    Queue* queue = nullptr; // the leaf when it exists, else the queue below which `path` is created
    std::string path;
    bool is_new = false;
    Limit max;
    std::optional<Resource> guaranteed;
    std::uint64_t max_applications = 0;
    config::PropertyMap property_map; // of a new one
    config::QueueProperties properties;
};

/// C-235: the queue whose template holds for new leafs below `parent`, the nearest that has one now; nullptr: none.
[[nodiscard]] const Queue* owner_of_template(const Queue& parent);

} // namespace yk
