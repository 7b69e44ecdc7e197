#pragma once
// Cursors: where the pages of lists go on that a session fetches piece by piece, each for a while. A cursor is of no
// use to another session.
//
// Thread: the owner's lock.

#include <list>
#include <optional>
#include <string>

#include "protocol/wire/envelope.h"
#include "ykd/runtime/clock.h"

namespace yk::service {

template <class Place>
class Cursors {
public:
    struct Kept {
        std::string cursor;
        wire::Sid session;
        Place place;
        SteadyClock::time_point until;
    };

    /// Nothing: unknown, of another session, or too old.
    [[nodiscard]] std::optional<Place> find(const wire::Sid& session, const std::string& cursor) {
        sweep();
        for (const Kept& one : kept_)
            if (one.cursor == cursor && one.session == session) return one.place;
        return std::nullopt;
    }
    /// Forgets what is too old.
    void sweep() {
        const auto now = SteadyClock::now();
        kept_.remove_if([now](const Kept& one) { return one.until <= now; });
    }
    [[nodiscard]] std::list<Kept>& kept() { return kept_; }

private:
    std::list<Kept> kept_; // oldest first
};

} // namespace yk::service
