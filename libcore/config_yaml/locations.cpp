// SPDX-License-Identifier: Apache-2.0
#include "libcore/config_yaml/locations.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "libcore/config/names.h"
#include "libcore/config/suggest.h"
#include "libcore/config_yaml/schema.h"

namespace yk::config_yaml {

namespace {

using config::in_quotes;

const NodePtr kNothing;

std::string_view first_part(std::string_view text) {
    return text.substr(0, text.find_first_of(".["));
}

const NodePtr& member(const NodePtr& node, std::string_view key) {
    if (node != nullptr)
        for (const Member& each : node->members)
            if (each.key == key) return each.value;
    return kNothing;
}

std::string name_of(const NodePtr& queue) {
    const NodePtr& name = member(queue, "name");
    return name == nullptr ? std::string{} : config::lower(name->scalar);
}

std::size_t size_of(const NodePtr& list) {
    return list == nullptr ? 0 : list->items.size();
}

/// Whether the only top level queue is the root; if not, there is one above them that is not written (C-042).
bool is_root_written(const NodePtr& queues) {
    return size_of(queues) == 1 && name_of(queues->items[0]) == "root";
}

std::string item_path(const std::string& path, std::size_t index) {
    return path + '[' + std::to_string(index) + ']';
}

/// Follows one path, part by part; the first fault ends that.
class Finder {
public:
    explicit Finder(NodePtr root) : root_(std::move(root)) {}

    Result<Location> find(std::string_view text, std::size_t partition, std::string_view made) {
        if (first_part(text) == "partitions") {
            at_ = root_;
            follow(kDocumentType, text);
        } else if (first_part(text) == "root") {
            find_queue(text, partition, made);
        } else {
            enter_partition(partition);
            follow(kPartitionType, text);
        }
        if (!fault_.empty()) return Error::of(fault_);
        location_.value = at_;
        if (at_ != nullptr) location_.mark = at_->mark;
        return location_;
    }

private:
    void fail(std::string text) {
        if (fault_.empty()) fault_ = std::move(text);
    }

    void enter_partition(std::size_t index) {
        const NodePtr& list = member(root_, "partitions");
        at_ = index < size_of(list) ? list->items[index] : nullptr;
        location_.path = item_path("partitions", index);
        location_.partition = index;
    }

    /// `text` begins with a key of the mapping at_, which is null if it is not written.
    void follow(const MappingType& type, std::string_view text) {
        const std::string_view key = first_part(text);
        if (!knows(type, key))
            return fail(location_.path + (location_.path.empty() ? "" : ": ") + unknown_key_text(type, key));
        enter(key);
        const ValueType value = value_type(type, key);
        text.remove_prefix(key.size());
        if (value.list) return follow_list(value, type, text);
        follow_value(value, text);
    }

    void enter(std::string_view key) {
        const std::string name{key};
        at_ = member(at_, key);
        if (!location_.path.empty() || location_.queue.empty())
            location_.path += (location_.path.empty() ? "" : ".") + name;
        location_.key += (location_.key.empty() ? "" : ".") + name;
    }

    void follow_value(const ValueType& value, std::string_view text) {
        if (text.empty()) return;
        if (text[0] != '.' || text.size() == 1) return fail(shown() + " is no list; after it comes .KEY");
        text.remove_prefix(1);
        if (value.mapping != nullptr) return follow(*value.mapping, text);
        if (!value.free) return fail(shown() + " holds one value; there is nothing below it");
        enter(text); // names may have dots
    }

    void follow_list(const ValueType& value, const MappingType& owner, std::string_view text) {
        if (text.empty()) return;
        const auto index = take_index(text);
        if (!index) return fail(shown() + " is a list; after it comes [0] or another number");
        if (*index >= size_of(at_))
            return fail(shown() + " has " + std::to_string(size_of(at_)) + " entries, counted from 0");
        const bool only_root = &owner == &kPartitionType && is_root_written(at_);
        location_.path = item_path(location_.path, *index);
        location_.key = item_path(location_.key, *index);
        at_ = at_->items[*index];
        if (value.mapping == &kPartitionType) {
            location_.key.clear();
            location_.partition = *index;
        }
        if (value.mapping == &kQueueType) enter_queue(only_root);
        follow_value(value, text);
    }

    /// Enters the queue at_, of a path that is written as problems are.
    void enter_queue(bool is_root) {
        location_.key.clear();
        if (location_.queue.empty()) location_.queue = "root";
        if (!is_root) location_.queue += '.' + name_of(at_);
    }

    static std::optional<std::size_t> take_index(std::string_view& text) {
        if (text.empty() || text[0] != '[') return std::nullopt;
        std::size_t index = 0;
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data() + 1, end, index);
        if (error != std::errc{} || rest == end || *rest != ']') return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(rest - text.data()) + 1);
        return index;
    }

    // --- a queue and a key of it ------------------------------------------------------------------------------------

    void find_queue(std::string_view text, std::size_t partition, std::string_view made) {
        enter_partition(partition);
        const NodePtr written = at_;
        const std::string above = location_.path;
        NodePtr queues = member(at_, "queues");
        std::string list = above + ".queues";
        location_.queue = "root";
        at_ = is_root_written(queues) ? queues->items[0] : nullptr;
        location_.path = at_ != nullptr ? item_path(list, 0) : std::string{};
        if (at_ != nullptr) {
            list = location_.path + ".queues";
            queues = member(at_, "queues");
        }
        std::string_view rest = text.substr(first_part(text).size());
        while (descend(queues, list, rest)) {
        }
        if (made.size() > location_.queue.size()) { // a placement rule made it
            location_.queue = made;
            location_.path.clear();
            at_ = nullptr;
            queues = nullptr;
            rest = text.substr(made.size());
        }
        // those of the partition are the root's, too
        const bool of_partition = rest.size() > 1 && first_part(rest.substr(1)) == "limits" &&
                                  location_.queue == "root" && member(at_, "limits") == nullptr &&
                                  member(written, "limits") != nullptr;
        if (!of_partition) return follow_queue(rest, queues);
        at_ = written;
        location_.path = above;
        follow(kPartitionType, rest.substr(1));
    }

    /// Enters the child that `rest` names first; false: there is none.
    bool descend(NodePtr& queues, std::string& list, std::string_view& rest) {
        if (rest.size() < 2 || rest[0] != '.') return false;
        const std::string_view name = rest.substr(1, rest.find('.', 1) - 1);
        for (std::size_t i = 0; i < size_of(queues); ++i) {
            if (name_of(queues->items[i]) != config::lower(name)) continue;
            rest.remove_prefix(name.size() + 1);
            location_.queue += '.' + config::lower(name);
            location_.path = item_path(list, i);
            at_ = queues->items[i];
            list = location_.path + ".queues";
            queues = member(at_, "queues");
            return true;
        }
        return false;
    }

    void follow_queue(std::string_view rest, const NodePtr& children) {
        if (rest.empty()) return;
        if (rest[0] != '.' || rest.size() == 1) return fail(location_.queue + " is a queue; after it comes .KEY");
        rest.remove_prefix(1);
        const std::string_view key = first_part(rest);
        if (knows(kQueueType, key)) return follow(kQueueType, rest);
        std::vector<std::string> names;
        for (std::size_t i = 0; i < size_of(children); ++i) names.push_back(name_of(children->items[i]));
        std::vector<std::string_view> known{kQueueType.keys.begin(), kQueueType.keys.end()};
        known.insert(known.end(), names.begin(), names.end());
        const std::string near = config::nearest(key, known);
        fail("queue " + location_.queue + " has no queue and no key " + in_quotes(key) +
             (near.empty() ? std::string{} : ", did you mean " + in_quotes(near) + "?"));
    }

    [[nodiscard]] std::string shown() const {
        return !location_.path.empty() ? location_.path
                                       : location_.queue + (location_.key.empty() ? "" : ".") + location_.key;
    }

    const NodePtr root_;
    NodePtr at_;
    Location location_;
    std::string fault_;
};

} // namespace

Result<Location> find_location(const NodePtr& root, std::string_view text, std::size_t partition,
                               std::string_view queue) {
    return Finder{root}.find(text, partition, queue);
}

bool is_location(std::string_view text) {
    const std::string_view first = first_part(text);
    return first == "root" || first == "partitions" || knows(kPartitionType, first);
}

} // namespace yk::config_yaml
