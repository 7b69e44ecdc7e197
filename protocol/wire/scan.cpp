// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/scan.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "protocol/wire/cursor.h"

namespace yk::wire {

namespace {

/// What follows a first byte: the `extra` payload bytes of a scalar, or a length of `extra` bytes (0: the length is in
/// the first byte).
struct Form {
    Type type = Type::Invalid;
    std::uint8_t extra = 0;
};

constexpr Form form_of(std::uint8_t head) {
    const Type type = type_of(head);
    if (head < 0xc0 || head >= 0xe0) return {type, 0};
    constexpr std::array<std::uint8_t, 32> extras{0, 0, 0, 0, 1, 2, 4, 0, 0, 0, 4, 8, 1, 2, 4, 8,  // c0 to cf
                                                  1, 2, 4, 8, 0, 0, 0, 0, 0, 1, 2, 4, 2, 4, 2, 4}; // d0 to df
    return {type, extras[head - 0xc0U]};
}

constexpr std::array<Form, 256> kForms = [] {
    std::array<Form, 256> forms{};
    for (std::size_t head = 0; head < 256; ++head) forms[head] = form_of(static_cast<std::uint8_t>(head));
    return forms;
}();

/// Maps up to this size are checked for duplicate keys while they are read, larger ones afterwards by sorting.
constexpr std::uint32_t kSmallMap = 16;

/// The keys of a small map, with a filter in front of the comparison: one bit per key, chosen by length and two
/// letters.
class SmallKeys {
public:
    /// Returns false when the key is there already.
    bool add(std::string_view key) noexcept {
        const std::uint64_t bit = std::uint64_t{1} << spread(key);
        if ((filter_ & bit) != 0 && std::find(keys_.begin(), keys_.begin() + count_, key) != keys_.begin() + count_)
            return false;
        filter_ |= bit;
        keys_[static_cast<std::size_t>(count_++)] = key;
        return true;
    }

private:
    static unsigned spread(std::string_view key) noexcept {
        if (key.empty()) return 0;
        const auto first = static_cast<unsigned char>(key.front());
        const auto last = static_cast<unsigned char>(key[key.size() - 1]);
        return static_cast<unsigned>(first * 7U + last * 3U + key.size() * 5U) & 63U;
    }

    std::array<std::string_view, kSmallMap> keys_;
    std::ptrdiff_t count_ = 0;
    std::uint64_t filter_ = 0;
};

class Scanner {
public:
    explicit Scanner(std::string_view message) noexcept
        : begin_(message.data()), at_(begin_), end_(begin_ + message.size()) {}

    std::optional<ScanFault> run() {
        if (at_ == end_) return fault_at(at_, si::ErrorCode::Decode, "the message is empty, expected a msgpack map");
        if (type_of(head()) != Type::Map)
            return fault_at(at_, si::ErrorCode::Decode, fmt::format("expected a map, got {}", text(type_of(head()))));
        if (!value(0)) return std::move(fault_);
        if (at_ != end_) return fault_at(at_, si::ErrorCode::Decode, fmt::format("{} bytes behind the map", left()));
        return std::nullopt;
    }

private:
    [[nodiscard]] std::uint8_t head() const noexcept { return static_cast<std::uint8_t>(*at_); }
    [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

    ScanFault fault_at(const char* at, si::ErrorCode code, const std::string& message) const {
        const auto offset = static_cast<std::size_t>(at - begin_);
        return {{code, fmt::format("byte {}: {}", offset, message), {}}, offset, pairs_};
    }
    bool fail(const char* at, si::ErrorCode code, const std::string& message) {
        fault_ = fault_at(at, code, message);
        return false;
    }
    bool fail_ends(const char* at) { return fail(at, si::ErrorCode::Decode, "the message ends inside a value"); }

    /// Reads the length that belongs to the first byte. Returns false when the message ends within it.
    bool length(Form form, std::uint32_t in_head, std::uint32_t& out) noexcept {
        ++at_;
        if (form.extra == 0) {
            out = in_head;
            return true;
        }
        if (left() < form.extra) return false;
        out = form.extra == 1   ? static_cast<std::uint8_t>(*at_)
              : form.extra == 2 ? load_big<std::uint16_t>(at_)
                                : load_big<std::uint32_t>(at_);
        at_ += form.extra;
        return true;
    }

    bool count_object() {
        if (++objects_ <= kMaxObjects) return true;
        return fail(at_, si::ErrorCode::Limit, fmt::format("more than {} values and keys", kMaxObjects));
    }

    /// Scans one value inside `depth` open containers.
    bool value(std::uint32_t depth) {
        if (at_ == end_) return fail_ends(at_);
        const Form form = kForms[head()];
        switch (form.type) {
        case Type::Text:
        case Type::Binary: return count_object() && sized(form);
        case Type::List:
        case Type::Map: return count_object() && container(form, depth);
        case Type::Extension: return fail(at_, si::ErrorCode::Decode, "extension types are not used here");
        case Type::Invalid: return fail(at_, si::ErrorCode::Decode, "the byte 0xc1 begins no value");
        default: return count_object() && scalar(form);
        }
    }

    bool scalar(Form form) {
        const std::size_t size = std::size_t{1} + form.extra;
        if (left() < size) return fail_ends(at_);
        at_ += size;
        return true;
    }

    bool sized(Form form, std::string_view* out = nullptr) {
        const char* start = at_;
        std::uint32_t size = 0;
        if (!length(form, head() & 0x1fU, size)) return fail_ends(start);
        if (size > left())
            return fail(start, si::ErrorCode::Decode, fmt::format("{} bytes claimed, {} remain", size, left()));
        if (out != nullptr) *out = {at_, size};
        at_ += size;
        return true;
    }

    bool container(Form form, std::uint32_t depth) {
        const char* start = at_;
        const bool is_map = form.type == Type::Map;
        std::uint32_t size = 0;
        if (!length(form, head() & 0xfU, size)) return fail_ends(start);
        if (std::uint64_t{size} * (is_map ? 2 : 1) > left())
            return fail(start, si::ErrorCode::Decode,
                        fmt::format("{} elements claimed, {} bytes remain", size, left()));
        if (depth >= kMaxDepth)
            return fail(start, si::ErrorCode::Limit, fmt::format("nested deeper than {} levels", kMaxDepth));
        if (!is_map) return elements(size, depth + 1);
        return size <= kSmallMap ? small_map(size, depth + 1) : large_map(size, depth + 1, start);
    }

    bool elements(std::uint32_t size, std::uint32_t depth) {
        for (std::uint32_t i = 0; i < size; ++i)
            if (!value(depth)) return false;
        return true;
    }

    bool key(std::string_view& out) {
        if (at_ == end_) return fail_ends(at_);
        const Form form = kForms[head()];
        if (form.type == Type::Text) return count_object() && sized(form, &out);
        return fail(at_, si::ErrorCode::Decode, fmt::format("expected a text as key, got {}", text(form.type)));
    }

    struct Key {
        std::string_view text;
        const char* at = nullptr;
    };

    bool fail_duplicate(const Key& key) {
        return fail(key.at, si::ErrorCode::Decode,
                    fmt::format("duplicate key '{}'", printable(key.text.substr(0, 64))));
    }
    static std::string printable(std::string_view text) {
        std::string out{text};
        for (char& c : out)
            if (c < ' ' || c > '~') c = '?';
        return out;
    }

    bool small_map(std::uint32_t size, std::uint32_t depth) {
        SmallKeys keys;
        for (std::uint32_t i = 0; i < size; ++i) {
            Key next{{}, at_};
            if (!key(next.text)) return false;
            if (!keys.add(next.text)) return fail_duplicate(next);
            if (!value(depth)) return false;
            pairs_ += depth == 1 ? 1 : 0;
        }
        return true;
    }

    bool large_map(std::uint32_t size, std::uint32_t depth, const char* start) {
        std::uint32_t keys = 0;
        std::string_view ignored;
        bool sound = true;
        while (sound && keys < size && (sound = key(ignored))) {
            ++keys;
            sound = value(depth);
            pairs_ += sound && depth == 1 ? 1 : 0;
        }
        // A duplicate key stands before any fault found by now, and the first fault in the bytes counts (I-316).
        const std::optional<Key> duplicate = first_duplicate(start, keys);
        return duplicate ? fail_duplicate(*duplicate) : sound;
    }

    /// A key as it is sorted: by its hash, which costs a fraction of comparing texts when there are millions of keys. A
    /// peer without a session may send such maps, one after the other.
    struct HashedKey {
        std::size_t hash = 0;
        const char* at = nullptr;
    };

    [[nodiscard]] Key key_at(const char* at) const {
        Cursor cursor{Body::of_scanned({at, static_cast<std::size_t>(end_ - at)})};
        return {cursor.text(), at};
    }

    /// The earliest of the first `count` keys of the map at `start` that repeats a key before it.
    [[nodiscard]] std::optional<Key> first_duplicate(const char* start, std::uint32_t count) const {
        std::vector<HashedKey> keys;
        keys.reserve(count);
        Cursor cursor{Body::of_scanned({start, static_cast<std::size_t>(end_ - start)})};
        cursor.map();
        for (std::uint32_t i = 0; i < count; ++i) {
            const char* at = cursor.position();
            keys.push_back({std::hash<std::string_view>{}(cursor.text()), at});
            if (i + 1 < count) cursor.skip(); // the last value may be the one at fault
        }
        std::sort(keys.begin(), keys.end(), [this](const HashedKey& a, const HashedKey& b) {
            if (a.hash != b.hash) return a.hash < b.hash;
            const int order = key_at(a.at).text.compare(key_at(b.at).text);
            return order != 0 ? order < 0 : a.at < b.at;
        });
        std::optional<Key> first;
        for (std::size_t i = 1; i < keys.size(); ++i) {
            if (keys[i].hash != keys[i - 1].hash || (first && first->at < keys[i].at)) continue;
            const Key key = key_at(keys[i].at);
            if (key.text == key_at(keys[i - 1].at).text) first = key;
        }
        return first;
    }

    const char* begin_;
    const char* at_;
    const char* end_;
    std::uint32_t objects_ = 0;
    std::uint32_t pairs_ = 0; // of the outermost map, sound so far
    std::optional<ScanFault> fault_;
};

} // namespace

std::optional<ScanFault> scan(std::string_view message) {
    return Scanner{message}.run();
}

WireResult<Body> scan_body(std::string_view bytes) {
    if (auto fault = scan(bytes)) return std::move(fault->error);
    return Body::of_scanned(bytes);
}

} // namespace yk::wire
