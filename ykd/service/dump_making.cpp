#include "ykd/service/dump_making.h"

#include <algorithm>
#include <map>

#include "ykd/service/daemon.h"
#include "ykd/service/dump_plain.h"
#include "ykd/service/gather.h"
#include "ykd/service/rm_diagnostics.h"

namespace yk::service {
namespace {

/// What an owner thread has made of the picture so far.
struct Picture {
    Instant as_of; // of the first piece
    std::vector<DumpPart> pieces;
    std::size_t partition = 0; // the one at work
    PicturePlace place;
    bool small_only = false; // a partition of more than one piece ends it,
    bool is_large = false;   // and is marked
};

/// Makes the next piece, so that cycles run in between (adr 0008); true: it was the last.
bool add_next(Picture& picture, RmOwner& owner, const std::vector<std::string>& names, const DumpQuery& query,
              decltype(DumpKind::collect) collect) {
    if (picture.pieces.empty()) picture.as_of = owner.now();
    if (owner.context() == nullptr || picture.partition == names.size()) return true;
    picture.place.room = kPiece;
    DumpPart piece;
    piece.rm_id = owner.rm_id();
    piece.partition = names[picture.partition];
    if (collect(*owner.context(), query, picture.place, piece)) {
        ++picture.partition;
        picture.place = {};
    } else if (picture.small_only) {
        picture.pieces.clear();
        return picture.is_large = true;
    }
    picture.pieces.push_back(std::move(piece));
    return picture.partition == names.size();
}

void assemble(DumpSnapshot& snapshot, std::vector<DumpPart> pieces) {
    for (DumpPart& piece : pieces) {
        const bool goes_on = !snapshot.parts.empty() && snapshot.parts.back().rm_id == piece.rm_id &&
                             snapshot.parts.back().partition == piece.partition;
        if (goes_on)
            add_piece(snapshot.parts.back(), std::move(piece));
        else
            snapshot.parts.push_back(std::move(piece));
    }
}

} // namespace

namespace {

/// `small`: nothing is made, `done` gets nullptr, when there is a partition of more than one piece.
void make(Daemon& daemon, const DumpQuery& query, decltype(DumpKind::collect) collect, std::vector<DumpTarget> targets,
          bool small, std::function<void(SnapshotPtr)> done) {
    std::vector<RmPtr> rms;
    auto names = std::make_shared<std::map<std::string, std::vector<std::string>>>();
    for (DumpTarget& target : targets) {
        rms.push_back(target.rm);
        (*names)[target.rm->id] = std::move(target.partitions);
    }
    const auto ask = [names, query, collect, small](RmOwner& owner, Picture& picture) {
        picture.small_only = small;
        return add_next(picture, owner, names->at(owner.rm_id()), query, collect);
    };
    gather_in_pieces<Picture>(
        daemon.workers(), rms, ask,
        [&daemon, what = query.what, done = std::move(done)](std::vector<Gathered<Picture>>&& all) {
            auto snapshot = std::make_shared<DumpSnapshot>();
            snapshot->what = what;
            snapshot->as_of = all.empty() ? daemon.now() : Instant{};
            for (auto& [rm, picture] : all) {
                if (picture.is_large) return done(nullptr);
                snapshot->as_of = std::max(snapshot->as_of, picture.as_of);
                assemble(*snapshot, std::move(picture.pieces));
            }
            for (DumpPart& part : snapshot->parts) put_in_order(part);
            done(std::move(snapshot));
        });
}

} // namespace

void make_snapshot(Daemon& daemon, const DumpQuery& query, decltype(DumpKind::collect) collect,
                   std::vector<DumpTarget> targets, std::function<void(SnapshotPtr)> done) {
    make(daemon, query, collect, std::move(targets), false, std::move(done));
}

void make_small_snapshot(Daemon& daemon, const DumpQuery& query, decltype(DumpKind::collect) collect,
                         std::vector<DumpTarget> targets, std::function<void(SnapshotPtr)> done) {
    make(daemon, query, collect, std::move(targets), true, std::move(done));
}

bool make_full_dump(const Viewer& viewer, const DumpQuery& query, std::vector<DumpTarget> targets,
                    std::function<void(std::optional<Value>)> done) {
    const auto claim = std::make_shared<std::shared_ptr<void>>(viewer.daemon.snapshots().claim_full_dump());
    if (!*claim) return false;
    // The RMs are asked first, so that the picture is not older than what they say (I-435).
    ask_rm_states(
        viewer, query,
        [viewer, query, claim, targets = std::move(targets), done = std::move(done)](const Value& diagnostics) {
            make_snapshot(viewer.daemon, query, collect_everything, targets,
                          [viewer, claim, diagnostics, done, brief = query.most == 0](const SnapshotPtr& snapshot) {
                              std::optional<Value> everything;
                              const auto& parts = snapshot->parts;
                              if (std::none_of(parts.begin(), parts.end(),
                                               [](const DumpPart& part) { return part.is_too_large; }))
                                  everything = full_dump(viewer, *snapshot, diagnostics, brief);
                              claim->reset(); // before the answer: the next dump may come at once
                              done(std::move(everything));
                          });
        });
    return true;
}

} // namespace yk::service
