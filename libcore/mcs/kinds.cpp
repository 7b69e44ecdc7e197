// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/kinds.h"

#include "libcore/base/check.h"

namespace yk::mcs {

std::optional<rs::Kind> find_kind(std::string_view name) {
    for (const rs::Kind kind : kKinds)
        if (name_of(kind) == name) return kind;
    return std::nullopt;
}

std::string_view name_of(DeleteMode mode) {
    switch (mode) {
    case DeleteMode::Owners: return "owners";
    case DeleteMode::Cascade: return "cascade";
    case DeleteMode::Orphan: return "orphan";
    }
    YK_UNREACHABLE("a mode without a name");
}

std::optional<DeleteMode> find_delete_mode(std::string_view name) {
    for (const DeleteMode mode : {DeleteMode::Owners, DeleteMode::Cascade, DeleteMode::Orphan})
        if (name_of(mode) == name) return mode;
    return std::nullopt;
}

} // namespace yk::mcs
