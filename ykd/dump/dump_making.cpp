// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/dump_making.h"

#include <algorithm>
#include <map>

#include "ykd/dump/rm_diagnostics.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

/// What an owner thread has made of the snapshot so far.
struct SnapshotInMaking {
    Instant as_of; // of the first chunk
    std::vector<DumpPart> chunks;
    std::size_t partition = 0; // the partition at work, by its index among the names
    SnapshotCursor cursor;     // within that partition
    bool small_only = false;   // a partition of more than one chunk ends it, without a result
    bool is_large = false;     // there was such a partition
};

/// Makes the next chunk, so that cycles run in between (docs/adr/0008). True: it was the last.
bool add_next(SnapshotInMaking& making, RmOwner& owner, const std::vector<std::string>& names, const DumpQuery& query,
              decltype(DumpKind::collect) collect) {
    if (making.chunks.empty()) making.as_of = owner.now();
    if (owner.context() == nullptr || making.partition == names.size()) return true;
    making.cursor.budget = kChunk;
    DumpPart chunk;
    chunk.rm_id = owner.rm_id();
    chunk.partition = names[making.partition];
    const PartitionState* state = owner.read(chunk.partition);
    if (state == nullptr || collect(*state, query, making.cursor, chunk)) {
        ++making.partition;
        making.cursor = {};
    } else if (making.small_only) {
        making.chunks.clear();
        return making.is_large = true;
    }
    making.chunks.push_back(std::move(chunk));
    return making.partition == names.size();
}

void assemble(DumpSnapshot& snapshot, std::vector<DumpPart> chunks) {
    for (DumpPart& chunk : chunks) {
        const bool goes_on = !snapshot.parts.empty() && snapshot.parts.back().rm_id == chunk.rm_id &&
                             snapshot.parts.back().partition == chunk.partition;
        if (goes_on)
            add_chunk(snapshot.parts.back(), std::move(chunk));
        else
            snapshot.parts.push_back(std::move(chunk));
    }
}

} // namespace

void DumpMaker::make(const DumpQuery& query, Collect collect, std::vector<DumpTarget> targets, Size size,
                     std::function<void(SnapshotPtr)> done) {
    std::vector<RmPtr> rms;
    auto names = std::make_shared<std::map<std::string, std::vector<std::string>>>();
    for (DumpTarget& target : targets) {
        rms.push_back(target.rm);
        (*names)[target.rm->id] = std::move(target.partitions);
    }
    const auto ask = [names, query, collect, size](RmOwner& owner, SnapshotInMaking& making) {
        making.small_only = size == Size::SmallOnly;
        return add_next(making, owner, names->at(owner.rm_id()), query, collect);
    };
    gather_in_chunks<SnapshotInMaking>(
        parts_.workers, rms, ask,
        [this, what = query.what, done = std::move(done)](std::vector<Gathered<SnapshotInMaking>>&& all) {
            auto snapshot = std::make_shared<DumpSnapshot>();
            snapshot->what = what;
            snapshot->as_of = all.empty() ? parts_.clock.now() : Instant{};
            for (auto& [rm, making] : all) {
                if (making.is_large) return done(nullptr);
                snapshot->as_of = std::max(snapshot->as_of, making.as_of);
                assemble(*snapshot, std::move(making.chunks));
            }
            for (DumpPart& part : snapshot->parts) put_in_order(part);
            done(std::move(snapshot));
        });
}

void DumpMaker::make_snapshot(const DumpQuery& query, Collect collect, std::vector<DumpTarget> targets,
                              std::function<void(SnapshotPtr)> done) {
    make(query, collect, std::move(targets), Size::Any, std::move(done));
}

void DumpMaker::make_small_snapshot(const DumpQuery& query, Collect collect, std::vector<DumpTarget> targets,
                                    std::function<void(SnapshotPtr)> done) {
    make(query, collect, std::move(targets), Size::SmallOnly, std::move(done));
}

bool DumpMaker::make_full_dump(const Viewer& viewer, const DumpQuery& query, std::vector<DumpTarget> targets,
                               std::function<void(std::optional<Value>)> done) {
    const auto claim = std::make_shared<std::shared_ptr<void>>(parts_.snapshots.claim_full_dump());
    if (!*claim) return false;
    // The RMs are asked first, so that the snapshot is not older than their answers (I-435).
    ask_rm_states(
        registered_rms(parts_.rms, viewer, query), parts_.workers,
        reply_limit(viewer.session.get(), parts_.max_message),
        [this, viewer, query, claim, targets = std::move(targets), done = std::move(done)](const Value& diagnostics) {
            make_snapshot(
                query, collect_everything, targets,
                [this, viewer, claim, diagnostics, done, brief = query.most == 0](const SnapshotPtr& snapshot) {
                    std::optional<Value> everything;
                    const auto& parts = snapshot->parts;
                    if (std::none_of(parts.begin(), parts.end(),
                                     [](const DumpPart& part) { return part.is_too_large; }))
                        everything = parts_.plain.full(viewer, *snapshot, diagnostics, brief);
                    claim->reset(); // before the answer: who reads it may ask for the next dump at once
                    done(std::move(everything));
                });
        });
    return true;
}

} // namespace yk::service
