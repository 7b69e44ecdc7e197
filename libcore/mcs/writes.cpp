// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/writes.h"

#include "libcore/base/check.h"

namespace yk::mcs {
namespace {

template <class Command>
using TraitsOf = rs::ResourceTraits<typename Command::Row>;

} // namespace

rs::Kind kind_of(const WriteCommand& command) {
    return std::visit([]<class Command>(const Command&) { return TraitsOf<Command>::kKind; }, command);
}

std::string_view owner_of(const WriteCommand& command) {
    return std::visit([]<class Command>(const Command&) { return TraitsOf<Command>::kOwner; }, command);
}

const std::string& id_of(const WriteCommand& command) {
    return std::visit(
        [](const auto& each) -> const std::string& {
            if constexpr (requires { each.row; })
                return each.row.meta.id;
            else if constexpr (requires { each.schedule_id; })
                return each.schedule_id;
            else
                return each.id;
        },
        command);
}

std::size_t rows_of(const WriteCommand& command) {
    return std::visit(
        [](const auto& each) -> std::size_t {
            if constexpr (requires { each.changes; })
                return 1 + each.changes.size();
            else if constexpr (requires { each.row.placements; })
                return 1 + each.row.placements.size();
            else
                return 1;
        },
        command);
}

std::string_view name_of(Conflict::What what) {
    switch (what) {
    case Conflict::What::RowChanged: return "row changed";
    case Conflict::What::RowGone: return "row gone";
    case Conflict::What::Exists: return "exists";
    case Conflict::What::NameTaken: return "name taken";
    case Conflict::What::OwnerGone: return "owner gone";
    case Conflict::What::NotOrphaned: return "not orphaned";
    }
    YK_UNREACHABLE("every conflict has a name");
}

const std::string& message_of(const WriteOutcome& outcome) {
    static const std::string kNone;
    return std::visit(
        [](const auto& each) -> const std::string& {
            if constexpr (requires { each.message; })
                return each.message;
            else
                return kNone;
        },
        outcome);
}

WriteOutcome outcome_of(const rs::StoreError& error) {
    switch (error.fault) {
    case rs::StoreFault::Down:
    case rs::StoreFault::Transient: return Transient{error.message};
    case rs::StoreFault::Conflict: return Conflict{Conflict::What::RowChanged, error.message, 0};
    case rs::StoreFault::Fenced: return Fenced{error.message};
    case rs::StoreFault::NotOwner: return NotOwner{error.message};
    case rs::StoreFault::Fatal: return Fatal{error.message};
    }
    YK_UNREACHABLE("every fault has an outcome");
}

} // namespace yk::mcs
