// HeadId: its text and its order.
#include "headroom/base/head_id.hpp"
#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("a head is named by kind, layer and original index") {
  CHECK(HeadId{AttentionKind::cross, 1, 3}.text() == "cross 1.3");
  CHECK(HeadId{}.text() == "encoder 0.0");
  CHECK(std::string(name_of(AttentionKind::decoder_self)) == "decoder");
}

TEST_CASE("heads are ordered by kind, layer, head") {
  const HeadId first{AttentionKind::encoder_self, 1, 3}, second{AttentionKind::decoder_self, 0, 0};
  CHECK(first < second);
  CHECK(HeadId{AttentionKind::cross, 0, 9} < HeadId{AttentionKind::cross, 1, 0});
  CHECK(HeadId{AttentionKind::cross, 1, 0} < HeadId{AttentionKind::cross, 1, 2});
  CHECK(first == HeadId{AttentionKind::encoder_self, 1, 3});
}
