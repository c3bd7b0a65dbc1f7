// Asks llama.cpp what the tokens of a GGUF file are, and how it splits texts. For `compare.py`.
//
// pieces MODEL [TEXTS]: prints `T id attributes ends hex` for each id, then `E hex ids` for each line of TEXTS, which are
// in hexadecimal.

#include "llama.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

static void print_hex(const char * bytes, int count) {
    for (int i = 0; i < count; i++) {
        printf("%02x", (unsigned char) bytes[i]);
    }
}

int main(int argc, char ** argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: pieces MODEL [TEXTS]\n");
        return 2;
    }
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    llama_backend_init();
    llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    llama_model * model = llama_model_load_from_file(argv[1], params);
    if (model == nullptr) {
        fprintf(stderr, "llama.cpp cannot load %s\n", argv[1]);
        return 1;
    }
    const llama_vocab * vocab = llama_model_get_vocab(model);
    std::vector<char> piece(1 << 20);
    for (int id = 0; id < llama_vocab_n_tokens(vocab); id++) {
        int count = llama_token_to_piece(vocab, id, piece.data(), (int) piece.size(), 0, true);
        printf("T %d %d %d ", id, (int) llama_vocab_get_attr(vocab, id), (int) llama_vocab_is_eog(vocab, id));
        print_hex(piece.data(), count);
        printf("\n");
    }
    if (argc > 2) {
        std::ifstream texts(argv[2]);
        std::vector<llama_token> ids(1 << 20);
        for (std::string line; std::getline(texts, line);) {
            std::string text;
            for (size_t i = 0; i + 1 < line.size(); i += 2) {
                text.push_back((char) std::stoi(line.substr(i, 2), nullptr, 16));
            }
            int count = llama_tokenize(vocab, text.data(), (int) text.size(), ids.data(), (int) ids.size(), false, false);
            printf("E %s ", line.c_str());
            for (int i = 0; i < count; i++) {
                printf(i == 0 ? "%d" : ",%d", ids[i]);
            }
            printf("\n");
        }
    }
    return 0;
}
