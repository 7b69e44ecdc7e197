// SPDX-License-Identifier: Apache-2.0
#pragma once
// KindTable: one row for each kind of request: who may send it, whether it changes anything, with which requests it
// takes turns, and the service that answers it. The daemon fills it at the start (daemon/services.cpp); nothing is
// added later.
//
// Owner: Daemon. Thread: any, once it is filled.

#include <array>
#include <functional>
#include <utility>

#include "protocol/si/kinds.h"
#include "ykd/session/session.h"

namespace yk::service {

class LargeAnswers;

/// Answers the call, now or later. Thread: a worker.
using Service = std::function<void(const CallPtr&)>;

class KindTable {
public:
    struct Row {
        const si::KindInfo* info = nullptr; // its name, the role it needs, whether it changes anything
        Service serve;                      // empty: the kind is not part of this version
        LargeAnswers* turns = nullptr;      // nullptr: its answer cannot become large, and it takes no turns
        bool is_long = false;               // the workers for long work serve it
    };

    KindTable() {
        for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].info = &si::info(static_cast<si::Kind>(i));
    }

    void add(si::Kind kind, Service serve, LargeAnswers* turns = nullptr, bool is_long = false) {
        Row& row = rows_[static_cast<std::size_t>(kind)];
        row.serve = std::move(serve);
        row.turns = turns;
        row.is_long = is_long;
    }
    [[nodiscard]] const Row& at(si::Kind kind) const { return rows_[static_cast<std::size_t>(kind)]; }

private:
    std::array<Row, si::kKindCount> rows_;
};

} // namespace yk::service
