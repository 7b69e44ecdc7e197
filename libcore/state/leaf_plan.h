// SPDX-License-Identifier: Apache-2.0
#pragma once
// LeafPlan: the leaf that an application is placed in, as it will be with the application in it. Made on const state,
// so that an application that is refused has made and changed no queue (S-491).

#include <optional>
#include <string>

#include "libcore/model/queue.h"

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
    bool inherits = false; // the leaf and the dynamic parents made for it get their parents' properties (B-10)
    Queue::SetByTags set_by_tags;
    bool has_too_many_types = false; // tags name resource types for which the partition has no place
};

/// An existing dynamic queue, as a template of a new configuration makes it (B-10).
struct TemplatePlan {
    Queue* queue;
    const Queue* owner; // has the template
    const config::ChildTemplate* from;
    config::PropertyMap property_map;
};

/// The queue whose template applies to new leafs below `parent`: the nearest, from `parent` up, that has one now;
/// nullptr: none (C-235).
[[nodiscard]] const Queue* owner_of_template(const Queue& parent);

/// The properties of a dynamic queue whose parent has `above`. Only a leaf gets the template's own (C-233, B-10).
[[nodiscard]] config::PropertyMap properties_from(const config::ChildTemplate& from, const config::PropertyMap& above,
                                                  bool leaf);

} // namespace yk
