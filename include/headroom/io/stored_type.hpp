// StoredType: the types of numbers in a safetensors file.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The element types of a file. Headroom stores F64, F32, I64, I32 and U8; it reads the numbers of
/// F16 and BF16, too, and leaves the others as they are. Files with other types are refused by
/// name.
enum class StoredType { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };
inline constexpr std::array all_stored_types{
    StoredType::f64, StoredType::f32, StoredType::f16,    StoredType::bf16, StoredType::i64,
    StoredType::i32, StoredType::i16, StoredType::i8,     StoredType::u64,  StoredType::u32,
    StoredType::u16, StoredType::u8,  StoredType::boolean};

/// "F64", "F32", "F16", "BF16", "I64", ..., "BOOL"
const char* name_of(StoredType type);
/// Bytes of one element.
Index size_of(StoredType type);
/// True for F64, F32, F16 and BF16.
bool is_floating(StoredType type);

/// Whether a double that a float cannot hold exactly is rounded or refused. Such numbers come from
/// checkpoints of the other precision.
enum class Rounding { refuse, allow };

/// A number that does not fit into float: too large, or, if rounding is refused, changed by it.
struct Misfit {
  std::size_t element = 0;
  double value = 0;
  bool too_large = false;
};

/// Reads numbers of a floating type. Stops at the first that does not fit, and returns it.
std::optional<Misfit> read_numbers(StoredType type, std::span<const std::byte> from,
                                   std::span<float> to, Rounding rounding);
std::optional<Misfit> read_numbers(StoredType type, std::span<const std::byte> from,
                                   std::span<double> to, Rounding rounding);

/// Numbers as a floating type stores them, rounded to the nearest.
void write_numbers(StoredType type, std::span<const Real> from, std::span<std::byte> to);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
