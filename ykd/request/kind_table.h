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

/// For how long a request of a kind keeps the thread that serves it. Short: for microseconds, and it waits for no file,
/// so that the thread that received it may serve it. Long: for milliseconds, and nobody waits for it to go on, so that
/// the workers for long work do.
enum class Length { Short, Usual, Long };

/// Answers the call, now or later. Thread: a worker; if it is Short, also one that receives requests.
using Service = std::function<void(const CallPtr&)>;

class KindTable {
public:
    struct Row {
        const si::KindInfo* info = nullptr; // its name, the role it needs, whether it changes anything
        Service serve;                      // empty: the kind is not part of this version
        LargeAnswers* turns = nullptr;      // nullptr: its answer cannot become large, and it takes no turns
        Length length = Length::Usual;
    };

    KindTable() {
        for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].info = &si::info(static_cast<si::Kind>(i));
    }

    void add(si::Kind kind, Service serve, LargeAnswers* turns = nullptr, Length length = Length::Usual) {
        Row& row = rows_[static_cast<std::size_t>(kind)];
        row.serve = std::move(serve);
        row.turns = turns;
        row.length = length;
    }
    [[nodiscard]] const Row& at(si::Kind kind) const { return rows_[static_cast<std::size_t>(kind)]; }

private:
    std::array<Row, si::kKindCount> rows_;
};

} // namespace yk::service
