// SPDX-License-Identifier: MIT
//
// variant_storage: the value of a variant. If all types are trivially copyable, it is a union and
// constexpr. Otherwise it is an array of bytes, which takes less memory to compile.

#ifndef WAYBILL_CORE_DETAIL_VARIANT_STORAGE_HPP
#define WAYBILL_CORE_DETAIL_VARIANT_STORAGE_HPP

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace waybill::inline v0_2::detail {

template <class First, class...>
struct first_type {
    using type = First;
};

/// The number of X in the list; the length of the list if it is not there.
template <class X, class... T>
[[nodiscard]] constexpr std::size_t number_of() noexcept
{
    std::size_t i = 0;
    bool found = false;
    ((found = found || std::is_same_v<X, T>, i += found ? 0U : 1U), ...);
    return i;
}

template <class... T>
union variant_union;
template <class T>
union variant_union<T> {
    T first;

    template <class X>
    constexpr variant_union(std::in_place_index_t<0>, X&& value) : first(std::forward<X>(value))
    {
    }
    template <class X>
    constexpr const T& as() const noexcept
    {
        return first;
    }
};
template <class First, class... Rest>
union variant_union<First, Rest...> {
    First first;
    variant_union<Rest...> rest;

    template <class X>
    constexpr variant_union(std::in_place_index_t<0>, X&& value) : first(std::forward<X>(value))
    {
    }
    template <std::size_t I, class X>
    constexpr variant_union(std::in_place_index_t<I>, X&& value)
        : rest(std::in_place_index<I - 1>, std::forward<X>(value))
    {
    }
    template <class X>
    constexpr const X& as() const noexcept
    {
        if constexpr (std::is_same_v<X, First>) return first;
        else return rest.template as<X>();
    }
};

/// All types are trivially copyable, and so is this.
template <bool Trivial, class... T>
class variant_storage {
public:
    template <std::size_t I, class X>
    constexpr variant_storage(std::in_place_index_t<I> i, X&& value)
        : held_(i, std::forward<X>(value)), index_(I)
    {
    }

    [[nodiscard]] constexpr std::size_t index() const noexcept { return index_; }
    /// Requires that the value has the type X.
    template <class X>
    [[nodiscard]] constexpr const X& as() const noexcept
    {
        return held_.template as<X>();
    }

private:
    variant_union<T...> held_;
    std::uint8_t index_;
};

template <class... T>
class variant_storage<false, T...> {
public:
    template <std::size_t I, class X>
    variant_storage(std::in_place_index_t<I>, X&& value) : index_(I)
    {
        ::new (static_cast<void*>(bytes_)) std::remove_cvref_t<X>(std::forward<X>(value));
    }
    variant_storage(const variant_storage& from) : index_(from.index_) { copy(from); }
    variant_storage(variant_storage&& from) noexcept : index_(from.index_) { move(from); }
    /// If a copy throws, *this is as before.
    variant_storage& operator=(const variant_storage& from)
    {
        if (this != &from) *this = variant_storage(from);
        return *this;
    }
    /// `from` may be a part of *this.
    variant_storage& operator=(variant_storage&& from) noexcept
    {
        variant_storage taken(std::move(from));
        destroy();
        index_ = taken.index_;
        move(taken);
        return *this;
    }
    ~variant_storage() { destroy(); }

    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    template <class X>
    [[nodiscard]] const X& as() const noexcept
    {
        return *std::launder(reinterpret_cast<const X*>(bytes_));
    }

private:
    // Each visits the types in turn: i is the number of the type T.
    void copy(const variant_storage& from)
    {
        std::size_t i = 0;
        ((i++ == index_ ? void(::new (static_cast<void*>(bytes_)) T(from.as<T>())) : void()), ...);
    }
    void move(variant_storage& from) noexcept
    {
        std::size_t i = 0;
        ((i++ == index_ ? void(::new (static_cast<void*>(bytes_)) T(const_cast<T&&>(from.as<T>())))
                        : void()),
         ...);
    }
    void destroy() noexcept
    {
        std::size_t i = 0;
        ((i++ == index_ ? as<T>().~T() : void()), ...);
    }

    static constexpr std::size_t size() noexcept
    {
        std::size_t most = 0;
        ((most = sizeof(T) > most ? sizeof(T) : most), ...);
        return most;
    }

    alignas(T...) unsigned char bytes_[size()];
    std::uint8_t index_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_VARIANT_STORAGE_HPP
