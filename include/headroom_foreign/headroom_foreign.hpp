// Models and tokenizers that other programs have written (target headroom_foreign). For programs.
#pragma once

#include "headroom_foreign/folders/folder_tensors.hpp"
#include "headroom_foreign/folders/folder_texts.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_foreign/folders/name_table.hpp"
#include "headroom_foreign/folders/write_folder.hpp"
#include "headroom_foreign/learning/folder_learner.hpp"
#include "headroom_foreign/learning/folder_task.hpp"
#include "headroom_foreign/tokenizers/added_tokens.hpp"
#include "headroom_foreign/tokenizers/byte_bpe.hpp"
#include "headroom_foreign/tokenizers/foreign_tokenizer.hpp"
#include "headroom_foreign/tokenizers/open_tokenizer.hpp"
#include "headroom_foreign/tokenizers/sentence_piece.hpp"
#include "headroom_foreign/tokenizers/token_table.hpp"
#include "headroom_foreign/tokenizers/word_piece.hpp"
