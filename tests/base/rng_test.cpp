// Random numbers: Philox against its authors' test vectors, streams, states and mask addressing.
#include "headroom/base/rng.hpp"

#include <cmath>
#include <vector>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

using Words = std::array<std::uint32_t, 4>;

TEST_CASE("philox gives the known answers of its authors") {
  // Random123, tests/kat_vectors, "philox4x32 10"
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t all = 0xffffffff;
  CHECK(philox({all, all, all, all}, {all, all}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("hash_name is FNV-1a, the same on every machine") {
  CHECK(hash_name("") == 0xcbf29ce484222325U);
  CHECK(hash_name("a") == 0xaf63dc4c8601ec8cU);
  CHECK(hash_name("foobar") == 0x85944171f73967e8U);
}

TEST_CASE("every draw is exactly a float, so both precisions start from the same numbers") {
  Rng rng(3, "draws");
  for (int i = 0; i < 2000; ++i) {
    for (const Real x : {rng.uniform(), rng.uniform(Real(-0.3), Real(0.7)), rng.normal()}) {
      REQUIRE(Real(float(x)) == x);
    }
  }
}

TEST_CASE("draws are the same numbers in both precisions") {
  // Values recorded from one build; the test runs in both precisions.
  Rng rng(42, "golden");
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    sum += double(rng.uniform(Real(-0.3), Real(0.7))) + double(rng.normal());
  }
  CHECK(std::abs(sum - 204.339793537) < 1e-7);  // half a unit of one float
}

TEST_CASE("uniform lies in [0, 1) on a grid of 2^-24, normal has mean 0 and variance 1") {
  Rng rng(5);
  double sum = 0, squares = 0;
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    const double u = double(rng.uniform());
    REQUIRE((u >= 0 && u < 1));
    REQUIRE(std::fmod(u * 0x1p24, 1.0) == 0);
    const double z = double(rng.normal());
    REQUIRE(std::isfinite(z));
    sum += z;
    squares += z * z;
  }
  CHECK(std::abs(sum / n) < 0.03);  // four standard errors
  CHECK(std::abs(squares / n - 1) < 0.04);
}

TEST_CASE("a saved state resumes the stream at any position") {
  Rng rng(7, "resume", 9);
  for (int drawn = 0; drawn < 11; ++drawn) {
    Rng copy(rng.state());
    CHECK(sizeof(rng.state()) == 32);
    CHECK(copy.word() == rng.word());
    CHECK(copy.normal() == rng.normal());
    CHECK(copy.state() == rng.state());
  }
}

TEST_CASE("seed, stream name and substream each change the numbers") {
  const auto first = [](Rng rng) { return rng.word(); };
  const std::uint32_t word = first(Rng(1, "a", 0));
  CHECK(word == first(Rng(1, "a", 0)));
  CHECK(word != first(Rng(2, "a", 0)));
  CHECK(word != first(Rng(1, "b", 0)));
  CHECK(word != first(Rng(1, "a", 1)));
}

TEST_CASE("each of the 64 bits of seed, position and substream changes the numbers") {
  const auto at = [](std::uint64_t position, std::uint64_t substream) {
    RngState state = Rng(1, "a", substream).state();
    state.position = position;
    return Rng(state).word();
  };
  for (int bit = 2; bit < 64; ++bit) {  // four draws have one block
    INFO("bit " << bit);
    CHECK(at(std::uint64_t{1} << bit, 0) != at(0, 0));
    CHECK(at(0, std::uint64_t{1} << bit) != at(0, 0));
    CHECK(Rng(std::uint64_t{1} << bit, "a").word() != Rng(0, "a").word());
  }
}

TEST_CASE("normal draws are finite where the uniform ones are 0 or nearly 1") {
  // Where this stream has words that begin with 24 bits of 0 and of 1, found by trying.
  for (const auto& [position, uniform] :
       {std::pair(std::uint64_t{7969962}, 0.0), {std::uint64_t{21281359}, 1 - 0x1p-24}}) {
    RngState state = Rng(3, "normal").state();
    state.position = position;
    CHECK(double(Rng(state).uniform()) == uniform);
    CHECK(std::isfinite(Rng(state).normal()));
  }
}

TEST_CASE("below(n) stays in [0, n) and takes each value equally often") {
  Rng rng(11);
  std::vector<int> count(7);
  const int n = 70000;
  for (int i = 0; i < n; ++i) {
    const Index draw = rng.below(7);
    REQUIRE((draw >= 0 && draw < 7));
    ++count[static_cast<std::size_t>(draw)];
  }
  double chi_squared = 0;
  for (const int c : count) chi_squared += (c - 10000.0) * (c - 10000.0) / 10000.0;
  CHECK(chi_squared < 22.5);  // 6 degrees of freedom: 1 in 1,000
  CHECK(rng.below(1) == 0);
  // A range that does not divide 2^64: a plain modulo would draw its lower half twice as often.
  const Index wide = (Index{1} << 62) + (Index{1} << 61);
  int low_half = 0;
  for (int i = 0; i < 2000; ++i) low_half += rng.below(wide) < wide / 2 ? 1 : 0;
  CHECK(std::abs(low_half - 1000) < 100);
  CHECK_THROWS_AS(rng.below(0), UsageError);
}

TEST_CASE("a mask's elements are addressed by number, in whatever order they are asked for") {
  const MaskStream stream(1, 2, hash_name("encoder.0.dropout"), 3);
  std::vector<float> all(101);
  stream.fill(0, 101, all.data());
  for (Index e = 100; e >= 0; --e) {
    CHECK(stream.uniform(e) == all[static_cast<std::size_t>(e)]);
  }
  for (const Index first : {1, 2, 3, 4, 50}) {
    std::vector<float> part(13);
    stream.fill(first, 13, part.data());
    CHECK(part == std::vector<float>(all.begin() + first, all.begin() + first + 13));
  }
  const Index far = (Index{1} << 33) + 1;
  CHECK(stream.uniform(far) != stream.uniform(1));
}

TEST_CASE("seed, step, module and head each give another mask") {
  const auto first = [](const MaskStream& s) {
    return std::vector<float>{s.uniform(0), s.uniform(1), s.uniform(2)};
  };
  const auto base = first(MaskStream(1, 1, 1, 0));
  CHECK(base == first(MaskStream(1, 1, 1, 0)));
  CHECK(base != first(MaskStream(2, 1, 1, 0)));
  CHECK(base != first(MaskStream(1, 2, 1, 0)));
  CHECK(base != first(MaskStream(1, 1, 2, 0)));
  CHECK(base != first(MaskStream(1, 1, 1, 1)));
  CHECK(base != first(MaskStream(1, 1, std::uint64_t{1} << 40 | 1, 0)));
}
