// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/body_reader.h"
#include "protocol/wire/cursor.h"

namespace yk::wire {

namespace {

Value read(Cursor& cursor);

Value read_integer(Cursor& cursor) {
    const Integer value = cursor.integer();
    if (value.negative) return static_cast<std::int64_t>(value.bits);
    return value.bits;
}

Value read_list(Cursor& cursor) {
    Value list = Value::array();
    for (std::uint32_t left = cursor.list(); left != 0; --left) list.push_back(read(cursor));
    return list;
}

Value read_map(Cursor& cursor) {
    Value map = Value::object();
    // Appends to the vector beneath the map: scan() has made sure that keys are unique, and the map would look for each
    // key among all others.
    auto& pairs = static_cast<Value::object_t::Container&>(map.get_ref<Value::object_t&>());
    for (std::uint32_t left = cursor.map(); left != 0; --left) {
        std::string key{cursor.text()};
        pairs.emplace_back(std::move(key), read(cursor));
    }
    return map;
}

/// Reads one value. scan() has bounded the recursion to kMaxDepth.
Value read(Cursor& cursor) {
    switch (cursor.type()) {
    case Type::Boolean: return cursor.boolean();
    case Type::Integer: return read_integer(cursor);
    case Type::Real: return cursor.real();
    case Type::Text: return std::string{cursor.text()};
    case Type::Binary: {
        const std::string_view bytes = cursor.binary();
        return Value::binary({bytes.begin(), bytes.end()});
    }
    case Type::List: return read_list(cursor);
    case Type::Map: return read_map(cursor);
    default: cursor.skip(); return nullptr;
    }
}

} // namespace

Value decode_value(Body body) {
    Cursor cursor{body};
    return read(cursor);
}

void encode_value(Packer& out, const Value& value) {
    switch (value.type()) {
    case Value::value_t::boolean: return out.boolean(value.get<bool>());
    case Value::value_t::number_integer: return out.integer(value.get<std::int64_t>());
    case Value::value_t::number_unsigned: return out.natural(value.get<std::uint64_t>());
    case Value::value_t::number_float: return out.real(value.get<double>());
    case Value::value_t::string: return out.text(value.get_ref<const std::string&>());
    case Value::value_t::binary: {
        const auto& bytes = value.get_binary();
        return out.binary({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    case Value::value_t::array:
        out.list(value.size());
        for (const Value& element : value) encode_value(out, element);
        return;
    case Value::value_t::object:
        out.map(value.size());
        for (const auto& [key, member] : value.get_ref<const Value::object_t&>()) {
            out.text(key);
            encode_value(out, member);
        }
        return;
    case Value::value_t::null:
    case Value::value_t::discarded: return out.nil();
    }
}

std::string encoded_value(const Value& value) {
    Buffer buffer;
    Packer packer{buffer};
    encode_value(packer, value);
    return buffer.str();
}

} // namespace yk::wire
