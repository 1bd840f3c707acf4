// Common code of the tests of the page of attention maps.
#pragma once

#include "headroom_lab/report/attend.hpp"
#include "headroom_runs/records/attention_record.hpp"
#include "support/small_saved_model.hpp"

/// A record for a page, with the model, which it rounds to half precision.
inline headroom::AttentionRecord page_record(const headroom::SavedModel& saved,
                                             const headroom::AttentionQuestion& question) {
  headroom::AttentionRecord record = attention_record(saved, question);
  record.title = "Where heads look";
  record.model.file =
      "/home/somebody/a_folder_whose_name_is_wider_than_a_phone/checkpoint.safetensors";
  record.page_model = page_model_record(saved, record.ids);
  return record;
}
