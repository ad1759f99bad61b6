// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <waybill/batch.hpp>

using strings = std::vector<std::string>;
using istream_lines = std::istream_iterator<std::string>;

strings received();
waybill::steady_time now();
std::uint64_t wire_size(const std::string& body);

constexpr waybill::batch_limits limits{.bytes = 1'000};
constexpr auto accept = [](const auto&) -> waybill::send_outcome {
    return waybill::batch_sender::accepted{};
};

// expect: size function: the items are no integers, so pass a function that returns the bytes
auto chunk_by_strings(strings& letters)
{
    return waybill::chunk_by(letters, limits);
}

// expect: size function: it must return the bytes of an item as an integer, not as bool
bool chunk_is_large(const std::string& s);

auto chunk_by_no_size(strings& letters)
{
    return waybill::chunk_by(letters, limits, chunk_is_large);
}

// expect: size function: it must be const and accept an item
struct letter {
    std::string body;
};

auto chunk_by_other_item(std::vector<letter>& letters)
{
    return waybill::chunk_by(letters.begin(), letters.end(), limits, wire_size);
}

// expect: framing: envelope(item), delta(state, item) and push(state, item) must be const
struct json_array {
    struct state {
        bool any = false;
        friend bool operator==(const state&, const state&) = default;
    };
    std::uint64_t envelope(const std::string&) const { return 2; }
    std::uint64_t delta(const state& s, const std::string& t) const { return t.size() + s.any; }
};

auto chunk_by_framing_lacks_push(strings& documents)
{
    return waybill::chunk_by(documents, limits, json_array{});
}

// expect: chunk_by: the container is a temporary, destroyed before its chunks are read
//
// The container of a loop over its chunks has to outlive the loop's head.
std::uint64_t chunk_by_temporary()
{
    std::uint64_t bytes = 0;
    for (auto part : waybill::chunk_by(received(), limits, wire_size)) {
        bytes += part.bytes;
    }
    return bytes;
}

// expect: size function: it must return the bytes of an item as an integer, not as bool
auto owned_chunks_size_is_bool(strings&& letters)
{
    return waybill::owned_chunks(std::move(letters), limits,
                                 [](const std::string& s) { return s.size() > 100; });
}

// expect: size function: it must return the bytes of an item as an integer, not as bool
waybill::packed_bins pack_size_is_bool(const strings& letters)
{
    return waybill::pack(letters, limits, [](const std::string& s) { return s.size() > 100; });
}

// expect: size function: the batch was declared for another type of it; of(limits, size)
//
// A size function with state is part of the type, which bin_packer::of deduces. The same for the
// next two.
void bin_packer_other_size(std::uint64_t header)
{
    const auto size = [header](const std::string& s) { return header + s.size(); };
    waybill::bin_packer<std::string> all{limits, size};
}

// expect: size function: the batch was declared for another type of it; of(limits, size)
void keyed_batches_other_size(std::uint64_t header)
{
    const auto size = [header](const std::string& s) { return header + s.size(); };
    waybill::keyed_batches<int, std::string> all{limits, size, {.open = 2}};
}

// expect: size function: the batch was declared for another type of it; of(limits, size)
void open_batch_other_size(std::uint64_t header)
{
    const auto size = [header](const std::string& s) { return header + s.size(); };
    waybill::open_batch<std::string> all{limits, size};
}

// expect: size function: it must return the bytes of an item as an integer, not as bool
void keyed_batches_size_is_bool()
{
    const auto is_large = [](const std::string& s) { return s.size() > 100; };
    auto all = waybill::keyed_batches<int, std::string>::of(limits, is_large);
}

// expect: size function: it must return the bytes of an item as an integer, not as bool
void open_batch_no_size(std::uint64_t most)
{
    const auto is_large = [most](const std::string& s) { return s.size() > most; };
    auto all = waybill::open_batch<std::string>::of(limits, is_large);
}

// expect: size function: it must return the bytes of an item as an integer, not as bool
void open_batch_declared_size_is_bool(bool (*is_large)(std::string))
{
    waybill::open_batch<std::string, bool (*)(std::string)> all{limits, is_large};
}

// expect: match: an action has no handler; add one for each type of action
void match_forgotten_action(waybill::batch_sender& s)
{
    waybill::match(
        s.next(now()), [](const waybill::batch_sender::send&) {},
        [](const waybill::batch_sender::report&) {}, [](waybill::idle) {});
}

// expect: send_all: the send function must return a send_outcome, such as batch_sender::accepted{}
waybill::send_report send_returns_bool(strings& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(inbox, &std::string::size, s, [](auto) { return true; }, now);
}

// expect: send_all: the send function must return a send_outcome, such as batch_sender::accepted{}
waybill::send_report send_returns_void(strings& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(inbox, &std::string::size, s, [](auto) {}, now);
}

// expect: send_all: the send function must return a send_outcome, such as batch_sender::accepted{}
waybill::send_report send_from_buffer_returns_bool(std::istringstream& in, waybill::batch_sender& s)
{
    waybill::resend_buffer<istream_lines, istream_lines> box{istream_lines(in), istream_lines()};
    return waybill::send_all(box, &std::string::size, s, [](auto) { return true; }, now);
}

// expect: send_all: the send function must accept a batch, which is a range of items
waybill::send_report send_takes_item(strings& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(
        inbox, &std::string::size, s,
        [](const std::string&) -> waybill::send_outcome {
            return waybill::batch_sender::accepted{};
        },
        now);
}

// expect: send_all: the replace function must accept an item and a batch_sender::replace, and
waybill::send_report replace_returns_void(strings& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(
        inbox, &std::string::size, s, accept, now,
        [](std::string& body, const waybill::batch_sender::replace&) { body.clear(); });
}

// expect: send_all: the size function must return the bytes of an item as an integer, not as bool
waybill::send_report size_is_bool(strings& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(
        inbox, [](const std::string& body) { return body.size() > 100; }, s, accept, now);
}

// expect: send_all: the size function must be const and accept an item
waybill::send_report size_of_other_item(strings& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(
        inbox, [](const std::vector<char>& body) { return body.size(); }, s, accept, now);
}

// expect: send_all: the input is a temporary, and a further call could not continue with it
waybill::send_report sends_temporary(waybill::batch_sender& s)
{
    return waybill::send_all(received(), &std::string::size, s, accept, now);
}

// expect: clock: it must return a steady time, as std::chrono::steady_clock::now does
waybill::send_report sends_by_wall_clock(strings& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(inbox, &std::string::size, s, accept, std::chrono::system_clock::now);
}

// expect: read it through a resend_buffer
//
// Of an input that can be read only once, a refused batch could not be cut again.
void sends_single_pass(std::istringstream& in, waybill::batch_sender& s)
{
    (void)waybill::send_all(istream_lines(in), istream_lines(), &std::string::size, s, accept, now);
}

// expect: read it through a resend_buffer
struct words_of {
    std::istringstream& in;
    auto begin() { return istream_lines(in); }
    auto end() { return istream_lines(); }
};

void sends_single_pass_range(words_of words, waybill::batch_sender& s)
{
    (void)waybill::send_all(words, &std::string::size, s, accept, now);
}

// expect: resend_buffer: the range is a temporary, destroyed before its items are read
std::size_t resend_buffer_temporary()
{
    waybill::resend_buffer box(received());
    return box.size();
}

// expect: describe_needs_waybill_MODULE_describe_hpp | call to deleted function 'describe'
std::string describe_without_header(const waybill::send_policy& policy)
{
    return describe(policy);
}
