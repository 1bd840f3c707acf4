// The event file of TensorBoard. The numbers of add_...() are the field numbers of event.proto.
#include "headroom_runs/exports/event_file.hpp"

#include <cstdint>
#include <protozero/pbf_writer.hpp>

#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// CRC-32C (Castagnoli), rotated and shifted as the format demands.
std::uint32_t masked_checksum(const std::string& bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

/// The bytes of a number, the lowest first.
std::string little_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

void add_record(std::string& file, const std::string& event) {
  const std::string length = little_endian(event.size(), 8);
  file += length + little_endian(masked_checksum(length), 4);
  file += event + little_endian(masked_checksum(event), 4);
}

}  // namespace

void write_event_file(const std::filesystem::path& path, std::span<const Measurement> all,
                      double seconds) {
  std::string file, first;
  protozero::pbf_writer begin(first);
  begin.add_double(1, seconds);
  begin.add_string(3, "brain.Event:2");  // the version of the format
  add_record(file, first);
  for (const Measurement& one : all) {
    std::string event;
    {
      protozero::pbf_writer to(event);
      to.add_double(1, seconds);
      to.add_int64(2, one.step);
      protozero::pbf_writer summary(to, 5), value(summary, 1);
      value.add_string(1, one.tag);
      value.add_float(2, float(one.value));
    }
    add_record(file, event);
  }
  write_file(path, file);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
