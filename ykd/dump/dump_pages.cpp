// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/dump_pages.h"

#include <algorithm>
#include <array>

#include "libcore/base/check.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

constexpr std::size_t kReplyOverhead = 4096; // bytes of a page's reply around its data
constexpr const char* kTooLarge = "one element alone is larger than the peer's message limit";

/// Encodes elements, part by part, until the page is full.
class Page {
public:
    Page(const DumpKind& kind, std::size_t limit, std::size_t max_bytes)
        : kind_(kind), limit_(limit), max_bytes_(max_bytes) {}

    /// Adds the elements of `part` from `first` on and returns how many of them fit. `opens`: nothing of the part is on
    /// an earlier page.
    std::size_t add(const DumpPart& part, std::size_t first, bool opens) {
        const std::size_t count = kind_.count(part);
        wire::Buffer list;
        std::size_t in_list = 0;
        for (std::size_t i = first; i < count && !full_; ++i) {
            if (taken_ == limit_ || !add_element(part, i, list)) {
                full_ = true;
                break;
            }
            ++in_list;
            ++taken_;
        }
        if (kind_.nest == nullptr) {
            out_.append(list.view());
            elements_ += in_list;
        } else if (in_list != 0 || (count == 0 && opens && !full_)) {
            nest(part, list, in_list);
        }
        return in_list;
    }
    [[nodiscard]] bool is_full() const { return full_ || taken_ == limit_; }
    /// How many more elements the limit allows.
    [[nodiscard]] std::size_t left() const { return limit_ - taken_; }
    /// Of the answer's data: elements, or maps of partitions.
    [[nodiscard]] std::size_t elements() const { return elements_; }
    [[nodiscard]] bool is_single_too_large() const { return too_large_; }
    [[nodiscard]] std::string_view bytes() const { return out_.view(); }

private:
    bool add_element(const DumpPart& part, std::size_t i, wire::Buffer& list) {
        std::string element = kind_.encode(part, i, false);
        if (used_ + element.size() > max_bytes_) {
            if (taken_ != 0) return false;
            element = kind_.encode(part, i, true); // alone it is too large with its lists
            too_large_ = element.size() > max_bytes_;
        }
        list.append(element);
        used_ += element.size();
        return true;
    }
    /// Writes the list in the map of its partition. Parts of one partition that follow each other are one list.
    void nest(const DumpPart& part, const wire::Buffer& list, std::size_t in_list) {
        const std::string name = part.rm_id + '/' + part.partition;
        if (name == nested_) { // rewrites the head of the list, whose length may need more bytes
            nested_count_ += in_list;
            nested_list_.append(list.view());
            out_.truncate(nested_at_);
        } else {
            nested_ = name;
            nested_at_ = out_.size();
            nested_count_ = in_list;
            nested_list_.clear();
            nested_list_.append(list.view());
            ++elements_;
        }
        wire::Packer packer(out_);
        packer.map(3);
        packer.text(kind_.nest_name);
        packer.text(part.partition);
        packer.field("clusterId", part.rm_id);
        packer.text(kind_.nest);
        packer.list(nested_count_);
        packer.raw(nested_list_.view());
    }

    const DumpKind& kind_;
    const std::size_t limit_, max_bytes_;
    wire::Buffer out_;
    std::size_t elements_ = 0, taken_ = 0, used_ = 0;
    bool full_ = false, too_large_ = false;
    std::string nested_; // the partition of the last map
    std::size_t nested_at_ = 0, nested_count_ = 0;
    wire::Buffer nested_list_;
};

} // namespace

/// Makes one page of the state: a chunk on an owner thread, its encoding on a worker, and so on until the page is full.
/// Owner: the closure of its next step. Thread: one at a time.
class DumpPager::LivePage : public std::enable_shared_from_this<LivePage> {
public:
    LivePage(DumpPager& pager, CallPtr call, const DumpKind& kind, LiveCursor live, const DumpQuery& query)
        : pager_(pager),
          call_(std::move(call)),
          kind_(kind),
          live_(std::move(live)),
          cursor_(query.cursor),
          page_(kind, query.limit, dump_limit(*call_)) {}

    void go_on() {
        for (; live_.target < live_.targets.size(); next_target()) {
            const RmPtr rm = pager_.rms_.find(live_.targets[live_.target].rm_id);
            if (!rm) continue; // it left since the list began
            return rm->owner.control([self = shared_from_this()](RmOwner& owner) { self->take_chunk(owner); },
                                     [self = shared_from_this()] {
                                         self->pager_.workers_.post(source_of(*self->call_),
                                                                    [self] { self->skip_target(); });
                                     });
        }
        finish();
    }

private:
    void next_target() {
        ++live_.target;
        live_.partition_cursor = {};
        live_.opened = false;
    }
    /// The target's RM has left: the list goes on without it (A4).
    void skip_target() {
        next_target();
        go_on();
    }
    void take_chunk(RmOwner& owner) {
        if (live_.as_of == Instant{}) live_.as_of = owner.now();
        const LiveTarget& target = live_.targets[live_.target];
        chunk_ = {};
        chunk_.rm_id = target.rm_id;
        chunk_.partition = target.partition;
        next_cursor_ = live_.partition_cursor;
        next_cursor_.is_live = true;
        next_cursor_.budget = std::min(page_.left(), kChunk);
        const PartitionState* state = owner.read(target.partition);
        last_ = state == nullptr || kind_.collect(*state, live_.query, next_cursor_, chunk_);
        pager_.workers_.post(source_of(*call_), [self = shared_from_this()] { self->encode(); });
    }
    void encode() {
        const std::size_t count = kind_.count(chunk_);
        const std::size_t taken = page_.add(chunk_, 0, !live_.opened);
        live_.opened = true;
        if (taken < count) {
            if (taken != 0) kind_.go_on(chunk_, taken, live_.partition_cursor);
            return finish();
        }
        put_in_order(next_cursor_);
        live_.partition_cursor = std::move(next_cursor_);
        if (last_) next_target();
        if (page_.is_full()) return finish();
        go_on();
    }
    void finish() {
        if (page_.is_single_too_large()) return call_->fail(ErrorCode::TooLarge, kTooLarge);
        std::string cursor;
        if (live_.target < live_.targets.size())
            cursor = pager_.kept_.keep({call_->session->sid, call_->session->grant.name},
                                       {nullptr, 0, std::make_shared<const LiveCursor>(live_)}, cursor_);
        else
            pager_.kept_.end(call_->session->sid, cursor_);
        wire::Buffer head;
        wire::Packer(head).list(page_.elements());
        answer_dump(call_, live_.as_of, cursor, head.view(), page_.bytes());
    }

    DumpPager& pager_;
    const CallPtr call_;
    const DumpKind& kind_;
    LiveCursor live_;            // behind what is on the page
    const std::string cursor_;   // of this page; empty: the first
    SnapshotCursor next_cursor_; // behind chunk_
    DumpPart chunk_;
    bool last_ = false; // chunk_ is the last of its partition
    Page page_;
};

void answer_dump(const CallPtr& call, Instant as_of, const std::string& cursor, std::string_view data_head,
                 std::string_view data) {
    wire::Buffer head;
    wire::Packer packer(head);
    packer.map(cursor.empty() ? 3 : 4);
    packer.key("asOf");
    packer.integer(as_of.ns);
    packer.key("complete");
    packer.boolean(cursor.empty());
    if (!cursor.empty()) packer.field("cursor", cursor);
    packer.key("data");
    packer.raw(data_head);
    const std::array<std::string_view, 2> parts{head.view(), data};
    call->ok_parts(parts);
}

std::size_t dump_limit(const Call& call) {
    return call.reply_limit() - kReplyOverhead;
}

void DumpPager::answer_page(const CallPtr& call, const DumpKind& kind, const SnapshotPtr& snapshot, std::size_t start,
                            const DumpQuery& query) {
    Page page(kind, query.limit, dump_limit(*call));
    std::size_t first = 0, next = start; // `first`: position of the part's first element
    for (const DumpPart& part : snapshot->parts) {
        const std::size_t count = kind.count(part);
        if (next <= first + count && !(next == first + count && count != 0))
            next += page.add(part, next - first, start == 0 || first > start); // else it is on an earlier page
        first += count;
        if (next < first) break;
    }
    if (page.is_single_too_large()) return call->fail(ErrorCode::TooLarge, kTooLarge);
    std::size_t total = 0;
    for (const DumpPart& part : snapshot->parts) total += kind.count(part);
    std::string cursor;
    if (next < total)
        cursor = kept_.keep({call->session->sid, call->session->grant.name}, {snapshot, next, nullptr}, query.cursor);
    else
        kept_.end(call->session->sid, query.cursor);
    wire::Buffer head;
    wire::Packer(head).list(page.elements());
    answer_dump(call, snapshot->as_of, cursor, head.view(), page.bytes());
}

void DumpPager::answer_live_page(const CallPtr& call, const DumpKind& kind, const LiveCursor& live,
                                 const DumpQuery& query) {
    YK_ASSUME(kind.go_on != nullptr, "only lists that may be long are read page by page");
    std::make_shared<LivePage>(*this, call, kind, live, query)->go_on();
}

} // namespace yk::service
