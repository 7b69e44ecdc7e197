#include "ykd/service/dump_pages.h"

#include <algorithm>
#include <array>

#include "ykd/service/daemon.h"
#include "ykd/service/gather.h"

namespace yk::service {
namespace {

constexpr std::size_t kReplyRoom = 4096; // of a page's reply, around its data
constexpr const char* kTooLarge = "one element alone is larger than the peer's message limit";

/// Encodes elements, part by part, until the page is full.
class Page {
public:
    Page(const DumpKind& kind, std::size_t limit, std::size_t max_bytes)
        : kind_(kind), limit_(limit), max_bytes_(max_bytes) {}

    /// The elements of `part` from `first` on; how many of them were taken. `opens`: nothing of the part stood on an
    /// earlier page.
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
    [[nodiscard]] std::size_t left() const { return limit_ - taken_; }
    [[nodiscard]] std::size_t elements() const { return elements_; }
    [[nodiscard]] bool is_single_too_large() const { return too_large_; }
    [[nodiscard]] std::string_view bytes() const { return out_.view(); }

private:
    bool add_element(const DumpPart& part, std::size_t i, wire::Buffer& list) {
        std::string element = kind_.encode(part, i, false);
        if (used_ + element.size() > max_bytes_) {
            if (taken_ != 0) return false;
            element = kind_.encode(part, i, true); // alone it is too large: without its lists
            too_large_ = element.size() > max_bytes_;
        }
        list.append(element);
        used_ += element.size();
        return true;
    }
    /// Parts of the same partition that follow each other are one list.
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
    std::string nested_; // the partition that the last map is of
    std::size_t nested_at_ = 0, nested_count_ = 0;
    wire::Buffer nested_list_;
};

/// Makes one page of the state: a piece on an owner thread, its encoding on a worker, and so on until the page is full.
class LivePage : public std::enable_shared_from_this<LivePage> {
public:
    LivePage(CallPtr call, const DumpKind& kind, LivePlace place, const DumpQuery& query)
        : call_(std::move(call)),
          kind_(kind),
          place_(std::move(place)),
          cursor_(query.cursor),
          page_(kind, query.limit, dump_room(*call_)) {}

    void go_on() {
        for (; place_.target < place_.targets.size(); next_target()) {
            const RmPtr rm = call_->daemon().rms().find(place_.targets[place_.target].rm_id);
            if (!rm) continue; // gone since the list began
            return rm->owner.control(
                [self = shared_from_this()](RmOwner& owner) { self->take_piece(owner); },
                [self = shared_from_this()] { self->call_->daemon().workers().post([self] { self->skip_target(); }); });
        }
        finish();
    }

private:
    void next_target() {
        ++place_.target;
        place_.picture = {};
        place_.opened = false;
    }
    /// Its RM has left (A4).
    void skip_target() {
        next_target();
        go_on();
    }
    void take_piece(RmOwner& owner) {
        if (place_.as_of == Instant{}) place_.as_of = owner.now();
        const LiveTarget& target = place_.targets[place_.target];
        piece_ = {};
        piece_.rm_id = target.rm_id;
        piece_.partition = target.partition;
        behind_ = place_.picture;
        behind_.is_live = true;
        behind_.room = std::min(page_.left(), kPiece);
        last_ = owner.context() == nullptr || kind_.collect(*owner.context(), place_.query, behind_, piece_);
        call_->daemon().workers().post([self = shared_from_this()] { self->encode(); });
    }
    void encode() {
        const std::size_t count = kind_.count(piece_);
        const std::size_t taken = page_.add(piece_, 0, !place_.opened);
        place_.opened = true;
        if (taken < count) {
            if (taken != 0) kind_.go_on(piece_, taken, place_.picture);
            return finish();
        }
        put_in_order(behind_);
        place_.picture = std::move(behind_);
        if (last_) next_target();
        if (page_.is_full()) return finish();
        go_on();
    }
    void finish() {
        if (page_.is_single_too_large()) return call_->fail(ErrorCode::TooLarge, kTooLarge);
        DumpSnapshots& kept = call_->daemon().snapshots();
        std::string cursor;
        if (place_.target < place_.targets.size())
            cursor = kept.keep({call_->session->sid, call_->session->grant.name},
                               {nullptr, 0, std::make_shared<const LivePlace>(place_)}, cursor_);
        else
            kept.end(call_->session->sid, cursor_);
        wire::Buffer head;
        wire::Packer(head).list(page_.elements());
        answer_dump(call_, place_.as_of, cursor, head.view(), page_.bytes());
    }

    const CallPtr call_;
    const DumpKind& kind_;
    LivePlace place_;          // behind what is on the page
    const std::string cursor_; // of this page
    PicturePlace behind_;
    DumpPart piece_;
    bool last_ = false; // the piece ends its partition
    Page page_;
};

} // namespace

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
    const std::array<std::string_view, 2> pieces{head.view(), data};
    call->ok_pieces(pieces);
}

std::size_t dump_room(const Call& call) {
    return call.daemon().reply_limit(call.session.get()) - kReplyRoom;
}

void answer_page(const CallPtr& call, const DumpKind& kind, const SnapshotPtr& snapshot, std::size_t start,
                 const DumpQuery& query) {
    Page page(kind, query.limit, dump_room(*call));
    std::size_t first = 0, next = start; // `first`: position of the part's first element
    for (const DumpPart& part : snapshot->parts) {
        const std::size_t count = kind.count(part);
        if (next <= first + count && !(next == first + count && count != 0))
            next += page.add(part, next - first, start == 0 || first > start); // else it stood on the last page
        first += count;
        if (next < first) break;
    }
    if (page.is_single_too_large()) return call->fail(ErrorCode::TooLarge, kTooLarge);
    std::size_t total = 0;
    for (const DumpPart& part : snapshot->parts) total += kind.count(part);
    DumpSnapshots& kept = call->daemon().snapshots();
    std::string cursor;
    if (next < total)
        cursor = kept.keep({call->session->sid, call->session->grant.name}, {snapshot, next, nullptr}, query.cursor);
    else
        kept.end(call->session->sid, query.cursor);
    wire::Buffer head;
    wire::Packer(head).list(page.elements());
    answer_dump(call, snapshot->as_of, cursor, head.view(), page.bytes());
}

void answer_live_page(const CallPtr& call, const DumpKind& kind, const LivePlace& place, const DumpQuery& query) {
    std::make_shared<LivePage>(call, kind, place, query)->go_on();
}

} // namespace yk::service
