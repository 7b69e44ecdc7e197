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
    bool inherits = false; // a new one and the dynamic parents made for it have their parents' properties (B-10)
    Queue::SetByTags set_by_tags;
};

/// B-10: a dynamic queue that is there, as a template of a new configuration makes it.
struct TemplatePlan {
    Queue* queue;
    const Queue* owner; // has the template
    const config::ChildTemplate* from;
    config::PropertyMap property_map;
};

/// C-235: the queue whose template holds for new leafs below `parent`, the nearest that has one now; nullptr: none.
[[nodiscard]] const Queue* owner_of_template(const Queue& parent);

/// The properties of a dynamic queue whose parent has `above` (C-233, B-10). A parent gets none of the template's own.
[[nodiscard]] config::PropertyMap properties_from(const config::ChildTemplate& from, const config::PropertyMap& above,
                                                  bool leaf);

} // namespace yk
