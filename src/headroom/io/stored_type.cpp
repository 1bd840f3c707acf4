// The element types of files, and their numbers.
#include "headroom/io/stored_type.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "headroom/base/error.hpp"
#include "headroom/base/half.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

struct TypeRow {
  const char* name;
  Index size;
};
constexpr std::array<TypeRow, 13> type_rows{{{"F64", 8},
                                             {"F32", 4},
                                             {"F16", 2},
                                             {"BF16", 2},
                                             {"I64", 8},
                                             {"I32", 4},
                                             {"I16", 2},
                                             {"I8", 1},
                                             {"U64", 8},
                                             {"U32", 4},
                                             {"U16", 2},
                                             {"U8", 1},
                                             {"BOOL", 1}}};

/// Calls `use(number, code)` for the functions of a floating type: from its bits, and back.
template <class Use>
void with_format(StoredType type, Use use) {
  switch (type) {
    case StoredType::f64: use([](double x) { return x; }, [](double x) { return x; }); return;
    case StoredType::f32: use([](float x) { return x; }, [](double x) { return float(x); }); return;
    case StoredType::f16: use(half_number, half_bits); return;
    case StoredType::bf16: use(bfloat_number, bfloat_bits); return;
    default: throw UsageError("not a floating type");
  }
}

template <class Function>
struct Argument;
template <class Result, class Of>
struct Argument<Result (*)(Of)> {
  using type = Of;
};

/// read_numbers() for both types of `to`.
template <class To>
std::optional<Misfit> numbers(StoredType type, std::span<const std::byte> from, std::span<To> to,
                              Rounding rounding) {
  std::optional<Misfit> misfit;
  with_format(type, [&](auto number, auto) {
    using Stored = typename Argument<decltype(+number)>::type;
    for (std::size_t i = 0; i < to.size() && !misfit; ++i) {
      Stored bits;
      std::memcpy(&bits, from.data() + i * sizeof bits, sizeof bits);
      const auto value = number(bits);
      if constexpr (sizeof(Stored) > sizeof(To)) {
        const bool large =
            std::isfinite(value) && std::abs(value) > double(std::numeric_limits<To>::max());
        to[i] = large ? To(0) : To(value);
        const bool survives = double(to[i]) == value || std::isnan(value);
        if (large || (rounding == Rounding::refuse && !survives)) misfit = {i, value, large};
      } else {
        to[i] = To(value);
      }
    }
  });
  return misfit;
}

}  // namespace

const char* name_of(StoredType type) { return type_rows.at(std::size_t(type)).name; }
Index size_of(StoredType type) { return type_rows.at(std::size_t(type)).size; }
bool is_floating(StoredType type) { return type <= StoredType::bf16; }

std::optional<Misfit> read_numbers(StoredType type, std::span<const std::byte> from,
                                   std::span<float> to, Rounding rounding) {
  return numbers(type, from, to, rounding);
}

std::optional<Misfit> read_numbers(StoredType type, std::span<const std::byte> from,
                                   std::span<double> to, Rounding rounding) {
  return numbers(type, from, to, rounding);
}

void write_numbers(StoredType type, std::span<const Real> from, std::span<std::byte> to) {
  with_format(type, [&](auto, auto bits) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto stored = bits(double(from[i]));
      std::memcpy(to.data() + i * sizeof stored, &stored, sizeof stored);
    }
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
