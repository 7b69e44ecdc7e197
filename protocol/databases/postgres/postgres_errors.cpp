// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/postgres/postgres_errors.h"

#include <algorithm>

namespace yk::rs {
namespace {

struct Class {
    std::string_view states; // that begin so
    StoreFault fault;
};

/// The first that fits counts.
constexpr Class kClasses[] = {
    {"08", StoreFault::Down},         // the connection
    {"57P01", StoreFault::Down},      // the server stops,
    {"57P02", StoreFault::Down},      // has crashed,
    {"57P03", StoreFault::Down},      // or has not begun
    {"57P05", StoreFault::Down},      // the session was idle for too long,
    {"25P03", StoreFault::Down},      // or its transaction was
    {"25006", StoreFault::Down},      // another server writes now: this one only reads
    {"23505", StoreFault::Conflict},  // the id, uid or name is in use
    {"23503", StoreFault::Conflict},  // the parent is gone
    {"25P02", StoreFault::Transient}, // something failed before in this transaction
    {"0A000", StoreFault::Down},      // a prepared statement does not fit any more: a new session prepares it anew
    {"26000", StoreFault::Down},      // a prepared statement is not known, likewise
    {"22", StoreFault::Fatal},        // a value that a column cannot have
    {"23", StoreFault::Fatal},        // a rule of the schema, not a race
    {"28", StoreFault::Fatal},        // not let in
    {"3D", StoreFault::Fatal},        // no such database
    {"3F", StoreFault::Fatal},        // or schema
    {"42", StoreFault::Fatal},        // no such table or column, no permission, wrong types
    {"XX001", StoreFault::Fatal},     // damage,
    {"XX002", StoreFault::Fatal},     // also of an index
    {"", StoreFault::Transient},      // serialization failures, deadlocks, a full disk, too slow
};

} // namespace

StoreFault fault_of(std::string_view state) {
    for (const Class& each : kClasses)
        if (state.substr(0, each.states.size()) == each.states) return each.fault;
    return StoreFault::Transient;
}

std::string one_line(std::string_view message) {
    constexpr std::string_view kBlank = " \t\r";
    std::string line;
    while (!message.empty()) {
        std::string_view part = message.substr(0, message.find('\n'));
        message.remove_prefix(std::min(part.size() + 1, message.size()));
        part.remove_prefix(std::min(part.find_first_not_of(kBlank), part.size()));
        part = part.substr(0, part.find_last_not_of(kBlank) + 1);
        if (part.empty()) continue;
        if (!line.empty()) line += "; ";
        line += part;
    }
    return line;
}

} // namespace yk::rs
