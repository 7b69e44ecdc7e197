// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/leaf_plan.h"

namespace yk {

const Queue* owner_of_template(const Queue& parent) {
    const Queue* owner = &parent;
    while (owner != nullptr && !owner->child_template) owner = owner->parent;
    return owner;
}

config::PropertyMap properties_from(const config::ChildTemplate& from, const config::PropertyMap& above, bool leaf) {
    static const config::PropertyMap kNone;
    return config::inherit_properties(from.inherit_properties ? above : kNone, leaf ? from.properties : kNone);
}

} // namespace yk
