// SPDX-License-Identifier: MIT
//
// Readers of refusals on random bytes and on damaged real texts. They do not read beyond the end
// (checked by the sanitizers), return no number that is not in the text, and no impossible number.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/refusals.hpp>

#include <waybill/wire/refusal_text.hpp>

namespace refusal_text_prop {

using tests_support::refusal;
using tests_support::refusals;
using waybill::wire::dialect;
using waybill::wire::read_refusal;
using waybill::wire::refusal_numbers;

namespace {

constexpr dialect dialects[] = {dialect::azure_amqp, dialect::sqs,  dialect::cloudwatch_logs,
                                dialect::pubsub,     dialect::grpc, dialect::kafka,
                                dialect::rabbitmq};

// Copies the text to the heap without a terminating zero, so that a sanitizer finds any read beyond
// the end.
std::optional<refusal_numbers> read_exactly(dialect d, std::string_view text)
{
    const std::unique_ptr<char[]> bytes(new char[text.size()]);
    if (!text.empty()) std::memcpy(bytes.get(), text.data(), text.size());
    return read_refusal(d, std::string_view(bytes.get(), text.size()));
}

bool digit(char c)
{
    return c >= '0' && c <= '9';
}

// True if the digits of n are a complete number in the text.
bool stands_in(std::string_view text, std::uint64_t n)
{
    const std::string digits = std::to_string(n);
    for (std::size_t at = text.find(digits); at != std::string_view::npos;
         at = text.find(digits, at + 1)) {
        const bool before = at > 0 && digit(text[at - 1]);
        const std::size_t end = at + digits.size();
        if (!before && !(end < text.size() && digit(text[end]))) return true;
    }
    return false;
}

// The rules for every result of every text.
bool honest(const std::optional<refusal_numbers>& got, std::string_view text)
{
    if (!got) return true;
    if (!got->actual && !got->limit) return false;
    if (got->actual && got->limit && *got->actual <= *got->limit) return false;
    if (got->limit && *got->limit == 0) return false;
    if (got->actual && !stands_in(text, *got->actual)) return false;
    return !got->limit || stands_in(text, *got->limit);
}

std::string without_digits(std::string_view text)
{
    std::string rest;
    for (const char c : text) {
        if (!digit(c)) rest += c;
    }
    return rest;
}

// Damages a text: lost, doubled, swapped, foreign and cut bytes.
std::string damaged(std::string text, std::mt19937_64& dice)
{
    const auto below = [&](std::size_t n) { return dice() % n; };
    static constexpr std::string_view likely = "0123456789 .,()-:%kKbBeM'\"\n\t";
    const std::size_t times = 1 + below(3);
    for (std::size_t i = 0; i < times && !text.empty(); ++i) {
        const std::size_t at = below(text.size());
        const char c = below(2) == 0 ? likely[below(likely.size())]
                                     : static_cast<char>(static_cast<unsigned char>(below(256)));
        switch (below(8)) {
            case 0: text[at] = c; break;
            case 1: text.erase(at, 1); break;
            case 2: text.insert(at, 1, c); break;
            case 3: text.resize(at); break;
            case 4: text.erase(0, at); break;
            case 5: text.insert(at, text, at, below(40)); break;
            case 6: text.insert(at, 1 + below(24), '9'); break;
            default: {
                const std::string_view other = refusals[below(std::size(refusals))].text;
                text.insert(at, other.substr(below(other.size())));
            }
        }
    }
    return text;
}

}  // namespace

TEST_CASE("refusals: random bytes give only numbers that they contain")
{
    CHECK(rc::check("bytes", [] {
        const auto bytes = *rc::gen::arbitrary<std::string>();
        for (const dialect d : dialects) RC_ASSERT(honest(read_exactly(d, bytes), bytes));
    }));
}

TEST_CASE("refusals: any two numbers are read from the texts of seven services")
{
    CHECK(rc::check("numbers", [] {
        const auto numbers = rc::gen::map(
            rc::gen::pair(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(0, 64)),
            [](const auto& p) { return p.first >> p.second; });
        const std::uint64_t a = *numbers;
        const std::uint64_t l = *numbers;
        const std::string actual = std::to_string(a);
        const std::string limit = std::to_string(l);
        const std::string texts[] = {
            "The received message (delivery-id:7, size:" + actual + " bytes) exceeds the limit (" +
                limit + " bytes) currently allowed on the link.",
            "Batch requests cannot be longer than " + limit + " bytes. You have sent " + actual +
                " bytes.",
            "Upload too large: " + actual + " bytes exceeds limit of " + limit,
            "The value for request_size is too large. You passed " + actual +
                " in the request, but the maximum value is " + limit + ".",
            "Received message larger than max (" + actual + " vs. " + limit + ")",
            "The record batch size in the append to t-0 is " + actual +
                " bytes which exceeds the maximum configured value of " + limit + ").",
            "message size " + actual + " is larger than configured max size " + limit,
        };
        static_assert(std::size(texts) == std::size(dialects));
        for (std::size_t i = 0; i < std::size(texts); ++i) {
            const auto got = read_exactly(dialects[i], texts[i]);
            RC_ASSERT(got.has_value() == (l != 0 && a > l));
            if (got) {
                RC_ASSERT(got->actual == a);
                RC_ASSERT(got->limit == l);
            }
        }
    }));
}

TEST_CASE("refusals: 200,000 damaged texts give only possible numbers that they contain")
{
    std::mt19937_64 dice(20'170'701);  // the same texts in every run
    constexpr std::size_t most = 200'000;
    std::size_t answers = 0;
    std::size_t untrue = 0;
    bool all_honest = true;
    for (std::size_t i = 0; i < most; ++i) {
        const refusal& original = refusals[i % std::size(refusals)];
        const std::string text = damaged(std::string(original.text), dice);
        for (const dialect d : dialects) {
            const auto got = read_exactly(d, text);
            if (!honest(got, text)) {
                all_honest = false;
                CAPTURE(text);
                CHECK(honest(got, text));
            }
            if (got) ++answers;
            if (got && d == original.from && got != original.numbers) ++untrue;
        }
    }
    CHECK(all_honest);
    // Damage mostly removes the result or leaves it unchanged. That is no rule, so the bounds are
    // wide.
    CHECK(answers > most / 20);
    CHECK(untrue < most / 10);
    MESSAGE(answers << " answers, " << untrue << " of them with numbers that the damage wrote");
}

TEST_CASE("refusals: a text with one changed letter gives the same numbers or none")
{
    std::size_t changed = 0;
    for (const refusal& each : refusals) {
        for (std::size_t at = 0; at < each.text.size(); ++at) {
            if (digit(each.text[at])) continue;
            for (const char c : {'x', 'X', '_', '#', '\0', '\x80'}) {
                std::string text(each.text);
                text[at] = c;
                const auto got = read_exactly(each.from, text);
                if (got) CHECK(*got == each.numbers);
                if (!got) ++changed;
            }
        }
        // Without digits there is no result.
        CHECK(!read_exactly(each.from, without_digits(each.text)));
    }
    CHECK(changed > 5'000);
}

}  // namespace refusal_text_prop
