// Token masks on logits, and one token chosen from them, for CUDA devices.
//
// `cargo xtask codegen ptx` compiles this file to grammask.ptx, which is checked in. Contraction of multiplications
// and additions is switched off, so that weights have the same bits here and on the CPU (src/weights.rs, which says
// what a weight is and why the exponential is our own).
//
// A row is read in groups of 16 bytes, E logits each. Rows need not begin at a multiple of 16 bytes: group 0 begins
// `shift` logits before the row, so that all groups are aligned, and groups that stick out of the row at either end
// are done logit by logit. GROUPS or WRITTEN_GROUPS groups are a tile, which is the work of one block of threads.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr u32 THREADS = 256;
// Groups of 16 bytes that one thread looks at: enough loads at once to hide the latency of memory. Where groups are
// written, smaller tiles are faster.
constexpr u32 PER_THREAD = 4;
constexpr u32 GROUPS = THREADS * PER_THREAD;
constexpr u32 WRITTEN_PER_THREAD = 2;
constexpr u32 WRITTEN_GROUPS = THREADS * WRITTEN_PER_THREAD;
constexpr u32 CUT_THREADS = 1024;
// A selection counts in so many bins, which are as many bits of a key, and compares so many keys with one another.
constexpr u32 BITS = 11;
constexpr u32 BINS = 1u << BITS;
constexpr u32 LIST = 512;
constexpr int NOTHING_ALLOWED = -1;
constexpr int NOTHING_POSSIBLE = -2;

// Mirrored by `Batch` in src/cuda/launch.rs.
struct Batch {
    u64 logits;
    const u32 *masks;
    // Null, or for each selected row which row of logits it is, and which row of masks belongs to it.
    const int *logit_rows;
    const int *mask_rows;
    i64 row_stride;
    i64 column_stride;
    u64 mask_stride;
    u32 rows;
    u32 selected;
    u32 columns;
    // Logits that the mask speaks of.
    u32 masked;
    // All bits for logits past `masked` that are kept, 0 for forbidden ones.
    u32 padding;
    u32 tiles;
};

// Mirrored by `Settings` in src/cuda/launch.rs.
struct Settings {
    double draw;
    float inverse_temperature;
    float top_p;
    u32 top_k;
    u32 unused;
};

struct Cut {
    // Tokens with smaller keys are not kept. 0 where there is nothing to choose.
    u64 key;
    float maximum;
    int code;
};

struct F32 {
    typedef u32 Bits;
    static __device__ float value(u32 bits) { return __uint_as_float(bits); }
};

struct Bf16 {
    typedef u16 Bits;
    static __device__ float value(u16 bits) { return __uint_as_float((u32)bits << 16); }
};

struct F16 {
    typedef u16 Bits;
    static __device__ float value(u16 half) {
        u32 bits = half;
        u32 moved = ((bits & 0x7fff) << 13) + (112u << 23);
        float value = __uint_as_float(moved);
        if ((bits & 0x7c00) == 0x7c00) {
            value = __uint_as_float(moved + (112u << 23));
        } else if ((bits & 0x7c00) == 0) {
            value = __uint_as_float(moved + (1u << 23)) - __uint_as_float(113u << 23);
        }
        return __uint_as_float(__float_as_uint(value) | (bits & 0x8000) << 16);
    }
};

template <class B> struct Group {
    static constexpr u32 E = 16 / sizeof(B);
    static constexpr u32 ALL = (1u << E) - 1;
    union {
        uint4 whole;
        B lanes[E];
    };
};

// A selected row: where its logits and its mask begin.
template <class B> struct Row {
    static constexpr u32 E = Group<B>::E;
    B *logits;
    const u32 *mask;
    u32 columns;
    u32 masked;
    u32 padding;
    u32 shift;
    bool exists;

    __device__ Row(const Batch &batch, u32 index) : columns(batch.columns), masked(batch.masked), padding(batch.padding) {
        i64 row = batch.logit_rows ? batch.logit_rows[index] : (i64)index;
        i64 mask_row = batch.mask_rows ? batch.mask_rows[index] : (i64)index;
        // Lists come from device memory, which nobody could check before.
        exists = row >= 0 && row < batch.rows && mask_row >= 0;
        logits = (B *)batch.logits + row * batch.row_stride;
        mask = batch.masks + mask_row * batch.mask_stride;
        shift = (u32)((u64)logits / sizeof(B)) % E;
    }

    __device__ u32 groups() const { return (columns + shift + E - 1) / E; }

    // The first logit of a group, before the row for group 0 of a row that is not aligned.
    __device__ i64 first(u32 group) const { return (i64)group * E - shift; }

    __device__ u32 is_allowed(u32 token) const {
        return token < masked ? mask[token >> 5] >> (token & 31) & 1 : padding & 1;
    }

    __device__ bool is_whole(u32 group) const {
        return first(group) >= 0 && first(group) + E <= columns;
    }

    // Which logits of a group are allowed; those outside of the row are not.
    __device__ u32 bits(u32 group) const {
        i64 begin = first(group);
        if (begin >= 0 && begin + E <= masked) {
            u32 word = (u32)begin >> 5, at = (u32)begin & 31;
            u32 low = __ldg(mask + word);
            u32 high = at + E > 32 ? __ldg(mask + word + 1) : 0;
            return __funnelshift_r(low, high, at) & Group<B>::ALL;
        }
        u32 bits = 0;
#pragma unroll 1
        for (u32 lane = 0; lane < E; lane++) {
            i64 token = begin + lane;
            if (token >= 0 && token < columns) bits |= is_allowed((u32)token) << lane;
        }
        return bits;
    }

    __device__ Group<B> load(u32 group) const {
        Group<B> loaded;
        if (is_whole(group)) {
            loaded.whole = *(const uint4 *)(logits + first(group));
            return loaded;
        }
        for (u32 lane = 0; lane < E; lane++) {
            i64 token = first(group) + lane;
            loaded.lanes[lane] = token >= 0 && token < columns ? logits[token] : (B)0;
        }
        return loaded;
    }
};

// A group that is wholly allowed is left alone, one that is wholly forbidden is written without being read.
template <class B> static __device__ void apply(const Batch &batch, B fill) {
    Row<B> row(batch, blockIdx.x / batch.tiles);
    if (!row.exists) return;
    constexpr u32 E = Group<B>::E;
    u32 begin = (blockIdx.x % batch.tiles) * WRITTEN_GROUPS + threadIdx.x, end = row.groups();
    u32 bits[WRITTEN_PER_THREAD];
    Group<B> groups[WRITTEN_PER_THREAD];
#pragma unroll
    for (u32 step = 0; step < WRITTEN_PER_THREAD; step++) {
        u32 group = begin + step * THREADS;
        bits[step] = group < end && row.is_whole(group) ? row.bits(group) : Group<B>::ALL;
        if (bits[step] != 0 && bits[step] != Group<B>::ALL) {
            groups[step].whole = *(const uint4 *)(row.logits + row.first(group));
        }
    }
#pragma unroll
    for (u32 step = 0; step < WRITTEN_PER_THREAD; step++) {
        if (bits[step] == Group<B>::ALL) continue;
#pragma unroll
        for (u32 lane = 0; lane < E; lane++) {
            if (!(bits[step] >> lane & 1)) groups[step].lanes[lane] = fill;
        }
        *(uint4 *)(row.logits + row.first(begin + step * THREADS)) = groups[step].whole;
    }
    // The ends of the row, by the threads that have them.
#pragma unroll 1
    for (u32 step = 0; step < WRITTEN_PER_THREAD; step++) {
        u32 group = begin + step * THREADS;
        if (group >= end || row.is_whole(group)) continue;
#pragma unroll 1
        for (u32 lane = 0; lane < E; lane++) {
            i64 token = row.first(group) + lane;
            if (token >= 0 && token < row.columns && !row.is_allowed((u32)token)) row.logits[token] = fill;
        }
    }
}

// Logits that are not side by side, one at a time.
template <class B> static __device__ void apply_strided(const Batch &batch, B fill) {
    Row<B> row(batch, blockIdx.x / batch.tiles);
    if (!row.exists) return;
    u32 step = batch.tiles * THREADS;
    for (u32 token = (blockIdx.x % batch.tiles) * THREADS + threadIdx.x; token < row.columns; token += step) {
        if (!row.is_allowed(token)) row.logits[(i64)token * batch.column_stride] = fill;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) grammask_apply_32(Batch batch, u32 fill) { apply<u32>(batch, fill); }
extern "C" __global__ void __launch_bounds__(THREADS, 4) grammask_apply_16(Batch batch, u32 fill) { apply<u16>(batch, (u16)fill); }
extern "C" __global__ void __launch_bounds__(THREADS) grammask_apply_strided_32(Batch batch, u32 fill) { apply_strided<u32>(batch, fill); }
extern "C" __global__ void __launch_bounds__(THREADS) grammask_apply_strided_16(Batch batch, u32 fill) { apply_strided<u16>(batch, (u16)fill); }

// A key orders tokens: larger logits have larger keys, and of equal logits smaller ids. NaN counts as minus infinity.
// No token has key 0.
static __device__ u64 key_of(float logit, u32 token) {
    if (!(logit == logit)) logit = -__int_as_float(0x7f800000);
    // The two zeros are equal.
    u32 bits = __float_as_uint(logit == 0.0f ? 0.0f : logit);
    u32 ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (u64)ordered << 32 | (u32)~token;
}

static __device__ float logit_of(u64 key) {
    u32 ordered = (u32)(key >> 32);
    return __uint_as_float(ordered & 0x80000000u ? ordered & 0x7fffffffu : ~ordered);
}

// Keys of minus infinity are at most this.
constexpr u64 IMPOSSIBLE = 0x007fffffffffffffull;

static __device__ float exp_nonpositive(float x) {
    bool is_visible = x >= -87.0f && x <= 0.0f;
    float clamped = is_visible ? x : -87.0f;
    float shifted = clamped * 1.44269504f + 12582912.0f;
    float n = shifted - 12582912.0f;
    float r = (clamped - n * 0.6933594f) - n * -2.1219444e-4f;
    float series = 1.0f / 5040.0f;
    series = series * r + 1.0f / 720.0f;
    series = series * r + 1.0f / 120.0f;
    series = series * r + 1.0f / 24.0f;
    series = series * r + 1.0f / 6.0f;
    series = series * r + 0.5f;
    series = series * r * r + r + 1.0f;
    float power = __uint_as_float((__float_as_uint(shifted) + 127u) << 23);
    return is_visible ? series * power : 0.0f;
}

static __device__ __noinline__ float weight_of(u64 key, const Cut &cut, float inverse_temperature) {
    if (key < cut.key || key <= IMPOSSIBLE) return 0.0f;
    float logit = logit_of(key);
    return logit == cut.maximum ? 1.0f : exp_nonpositive((logit - cut.maximum) * inverse_temperature);
}

// Calls `visit` with the keys of the allowed logits of some groups, which this thread takes in turns with others. Loads
// of 8 logits are under way at once: alone, each would wait for memory. More make the code longer and no faster.
template <class T, class F>
static __device__ void for_each_allowed(const Row<typename T::Bits> &row, u32 begin, u32 end, u32 step, F visit) {
    typedef typename T::Bits B;
    constexpr u32 AHEAD = 8 / Group<B>::E;
    end = min(end, row.groups());
#pragma unroll 1
    for (u32 group = begin; group < end; group += AHEAD * step) {
        u32 bits[AHEAD];
        Group<B> loaded[AHEAD];
#pragma unroll
        for (u32 at = 0; at < AHEAD; at++) bits[at] = group + at * step < end ? row.bits(group + at * step) : 0;
#pragma unroll
        for (u32 at = 0; at < AHEAD; at++) {
            if (bits[at] != 0) loaded[at] = row.load(group + at * step);
        }
#pragma unroll
        for (u32 at = 0; at < AHEAD; at++) {
            i64 first = row.first(group + at * step);
#pragma unroll
            for (u32 lane = 0; lane < Group<B>::E; lane++) {
                if (bits[at] >> lane & 1) visit(key_of(T::value(loaded[at].lanes[lane]), (u32)(first + lane)));
            }
        }
    }
}

template <u32 COUNT, class V, class F> static __device__ V reduce(V mine, V *shared, F join) {
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (u32 half = COUNT / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    V all = shared[0];
    __syncthreads();
    return all;
}

// The best key of each tile; 0 where nothing is allowed.
template <class T> static __device__ void best(const Batch &batch, u64 *tiles) {
    __shared__ u64 shared[THREADS];
    Row<typename T::Bits> row(batch, blockIdx.x / batch.tiles);
    u64 mine = 0;
    if (row.exists) {
        u32 begin = (blockIdx.x % batch.tiles) * GROUPS;
        for_each_allowed<T>(row, begin + threadIdx.x, begin + GROUPS, THREADS, [&](u64 key) { mine = max(mine, key); });
    }
    u64 all = reduce<THREADS>(mine, shared, [](u64 a, u64 b) { return max(a, b); });
    if (threadIdx.x == 0) tiles[blockIdx.x] = all;
}

// The best token of each row from those of its tiles.
extern "C" __global__ void __launch_bounds__(THREADS) grammask_argmax(Batch batch, const u64 *tiles, int *out) {
    __shared__ u64 shared[THREADS];
    u64 mine = 0;
    for (u32 tile = threadIdx.x; tile < batch.tiles; tile += THREADS) mine = max(mine, tiles[(u64)blockIdx.x * batch.tiles + tile]);
    u64 all = reduce<THREADS>(mine, shared, [](u64 a, u64 b) { return max(a, b); });
    if (threadIdx.x == 0) out[blockIdx.x] = all == 0 ? NOTHING_ALLOWED : all <= IMPOSSIBLE ? NOTHING_POSSIBLE : (int)~(u32)all;
}

// Weights as whole numbers, whose sum does not depend on the order in which threads add them up.
static __device__ u64 fixed(float weight) { return (u64)(weight * 1099511627776.0f); }

// What the threads of a block share while they select.
struct Selection {
    u64 bins[BINS];
    u64 list[LIST];
    u64 warps[CUT_THREADS / 32];
    u64 missing;
    u64 key;
    u32 bin;
    u32 listed;
};

// Adds up the bins in place: each becomes the sum of those up to it, and with it.
static __device__ void add_up(u64 *bins, u64 *warps) {
    constexpr u32 EACH = BINS / CUT_THREADS;
    u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    u64 sums[EACH], sum = 0;
    for (u32 at = 0; at < EACH; at++) sums[at] = sum += bins[threadIdx.x * EACH + at];
    u64 up_to = sum;
    for (u32 distance = 1; distance < 32; distance *= 2) {
        u64 other = __shfl_up_sync(~0u, up_to, distance);
        if (lane >= distance) up_to += other;
    }
    if (lane == 31) warps[warp] = up_to;
    __syncthreads();
    u64 before = up_to - sum;
    for (u32 other = 0; other < warp; other++) before += warps[other];
    for (u32 at = 0; at < EACH; at++) bins[threadIdx.x * EACH + at] = before + sums[at];
    __syncthreads();
}

// The smallest key such that the tokens with at least this key reach a number (`BY_COUNT`), or a share of the weights
// of all that the cut keeps.
//
// Tokens are counted by how far their logits are from the maximum, in bins that are alike in width. The bin in which the
// sum is reached holds few tokens as a rule; those are listed and compared with one another. While they are too many
// for the list, they are counted again by the next bits of their keys, from the top.
template <class T, bool BY_COUNT>
static __device__ u64 select(const Row<typename T::Bits> &row, const Cut &cut, float inverse_temperature, u64 count, float share, Selection &shared) {
    // Weights that are further off are nothing. Logits are seldom more than 32 apart where they matter.
    float scale = (BY_COUNT ? 1.0f : inverse_temperature) * (BINS / 32);
    auto amount = [&](u64 key) { return BY_COUNT ? 1 : fixed(weight_of(key, cut, inverse_temperature)); };
    // A smaller key has no smaller distance. Infinity less itself would be no number.
    auto distance = [&](u64 key) {
        float logit = logit_of(key);
        return logit == cut.maximum ? 0 : (u32)fminf((cut.maximum - logit) * scale, BINS - 1.0f);
    };
    constexpr u32 ANY = ~0u;
    u32 at_distance = ANY;
    u64 prefix = 0, wanted = count;
    // Bits of the key that are not known.
    u32 open = 64;
    auto is_candidate = [&](u64 key) {
        if (key < cut.key || key <= IMPOSSIBLE) return false;
        if (at_distance == ANY) return true;
        return distance(key) == at_distance && (open == 64 || key >> open == prefix >> open);
    };
    u32 listed = ANY;
    while (listed > LIST) {
        bool is_first = at_distance == ANY;
        u32 next = open > BITS ? open - BITS : 0, last = (1u << (open - next)) - 1;
        for (u32 at = threadIdx.x; at < BINS; at += CUT_THREADS) shared.bins[at] = 0;
        if (threadIdx.x == 0) {
            shared.bin = ANY;
            shared.missing = 0;
            shared.listed = 0;
        }
        __syncthreads();
        // Neighbours are often of the same bin: one addition in shared memory for each run of them.
        u32 bin_of_run = 0;
        u64 run = 0;
        for_each_allowed<T>(row, threadIdx.x, ~0u, CUT_THREADS, [&](u64 key) {
            if (!is_candidate(key)) return;
            u32 bin = is_first ? distance(key) : last - ((u32)(key >> next) & last);
            if (bin != bin_of_run) {
                if (run) atomicAdd(shared.bins + bin_of_run, run);
                bin_of_run = bin;
                run = 0;
            }
            run += amount(key);
        });
        if (run) atomicAdd(shared.bins + bin_of_run, run);
        __syncthreads();
        add_up(shared.bins, shared.warps);
        if (!BY_COUNT && is_first) wanted = max((u64)((double)share * (double)shared.bins[BINS - 1]), 1ull);
        for (u32 at = threadIdx.x; at < BINS; at += CUT_THREADS) {
            u64 before = at == 0 ? 0 : shared.bins[at - 1];
            if (before < wanted && wanted <= shared.bins[at]) {
                shared.bin = at;
                shared.missing = wanted - before;
            }
        }
        __syncthreads();
        u32 bin = shared.bin;
        wanted = shared.missing;
        __syncthreads();
        // Fewer tokens than asked for: everything is kept.
        if (bin == ANY) return cut.key;
        if (is_first) {
            at_distance = bin;
        } else {
            prefix |= (u64)(last - bin) << next;
            open = next;
        }
        for_each_allowed<T>(row, threadIdx.x, ~0u, CUT_THREADS, [&](u64 key) {
            if (!is_candidate(key)) return;
            u32 at = atomicAdd(&shared.listed, 1u);
            if (at < LIST) shared.list[at] = key;
        });
        __syncthreads();
        listed = shared.listed;
        __syncthreads();
    }
    // The key whose own amount, added to those of all larger keys, reaches what is wanted.
    for (u32 at = threadIdx.x; at < listed; at += CUT_THREADS) shared.bins[at] = amount(shared.list[at]);
    __syncthreads();
    for (u32 at = threadIdx.x; at < listed; at += CUT_THREADS) {
        u64 key = shared.list[at], before = 0;
        for (u32 other = 0; other < listed; other++) {
            if (shared.list[other] > key) before += shared.bins[other];
        }
        if (before < wanted && wanted <= before + shared.bins[at]) shared.key = key;
    }
    __syncthreads();
    u64 key = shared.key;
    __syncthreads();
    return key;
}

// The maximum of each row, and which tokens its limits keep.
template <class T> static __device__ void find_cut(const Batch &batch, const Settings *settings, const u64 *tiles, Cut *cuts) {
    __shared__ Selection shared;
    Settings setting = settings[blockIdx.x];
    u64 mine = 0;
    for (u32 tile = threadIdx.x; tile < batch.tiles; tile += CUT_THREADS) mine = max(mine, tiles[(u64)blockIdx.x * batch.tiles + tile]);
    u64 top = reduce<CUT_THREADS>(mine, shared.bins, [](u64 a, u64 b) { return max(a, b); });
    Cut cut = {0, logit_of(top), top == 0 ? NOTHING_ALLOWED : top <= IMPOSSIBLE ? NOTHING_POSSIBLE : 0};
    if (cut.code == 0) {
        Row<typename T::Bits> row(batch, blockIdx.x);
        if (setting.top_k == 1) {
            cut.key = top;
        } else if (setting.top_k > 1) {
            cut.key = select<T, true>(row, cut, setting.inverse_temperature, setting.top_k, 0.0f, shared);
        }
        if (setting.top_p < 1.0f && setting.top_k != 1) {
            cut.key = select<T, false>(row, cut, setting.inverse_temperature, 0, setting.top_p, shared);
        }
    }
    if (threadIdx.x == 0) cuts[blockIdx.x] = cut;
}

// The sum of the weights of each tile.
template <class T> static __device__ void sum(const Batch &batch, const Settings *settings, const Cut *cuts, double *sums) {
    __shared__ double shared[THREADS];
    u32 index = blockIdx.x / batch.tiles;
    Cut cut = cuts[index];
    double mine = 0;
    if (cut.code == 0) {
        Row<typename T::Bits> row(batch, index);
        float inverse_temperature = settings[index].inverse_temperature;
        u32 begin = (blockIdx.x % batch.tiles) * GROUPS;
        for_each_allowed<T>(row, begin + threadIdx.x, begin + GROUPS, THREADS, [&](u64 key) { mine += (double)weight_of(key, cut, inverse_temperature); });
    }
    double all = reduce<THREADS>(mine, shared, [](double a, double b) { return a + b; });
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// The token at which the sum of weights, in the order of ids, passes the drawn share of the whole.
template <class T> static __device__ void draw(const Batch &batch, const Settings *settings, const Cut *cuts, const double *sums, int *out) {
    __shared__ double parts[THREADS];
    __shared__ double left;
    __shared__ u32 chosen;
    Cut cut = cuts[blockIdx.x];
    if (cut.code != 0) {
        if (threadIdx.x == 0) out[blockIdx.x] = cut.code;
        return;
    }
    Settings setting = settings[blockIdx.x];
    sums += (u64)blockIdx.x * batch.tiles;
    if (threadIdx.x == 0) {
        double total = 0;
        for (u32 tile = 0; tile < batch.tiles; tile++) total += sums[tile];
        left = setting.draw * total;
        chosen = 0;
        for (u32 tile = 0; tile < batch.tiles; tile++) {
            if (sums[tile] <= 0) continue;
            chosen = tile;
            if (left < sums[tile]) break;
            left -= sums[tile];
        }
    }
    __syncthreads();
    // Threads take neighbouring groups here, so that their parts are in the order of ids.
    Row<typename T::Bits> row(batch, blockIdx.x);
    u32 begin = chosen * GROUPS + threadIdx.x * PER_THREAD;
    double mine = 0;
    for_each_allowed<T>(row, begin, begin + PER_THREAD, 1, [&](u64 key) { mine += weight_of(key, cut, setting.inverse_temperature); });
    parts[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 part = 0;
        for (u32 thread = 0; thread < THREADS; thread++) {
            if (parts[thread] <= 0) continue;
            part = thread;
            if (left < parts[thread]) break;
            left -= parts[thread];
        }
        // Where rounding carries past the last token, it is the last one that has any weight.
        int token = NOTHING_POSSIBLE;
        bool is_found = false;
        begin = chosen * GROUPS + part * PER_THREAD;
        double rest = left;
        for_each_allowed<T>(row, begin, begin + PER_THREAD, 1, [&](u64 key) {
            double weight = weight_of(key, cut, setting.inverse_temperature);
            if (is_found || weight <= 0) return;
            token = (int)~(u32)key;
            is_found = rest < weight;
            rest -= weight;
        });
        out[blockIdx.x] = token;
    }
}

#define KERNELS(T, name)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS) grammask_best_##name(Batch batch, u64 *tiles) { best<T>(batch, tiles); } \
    extern "C" __global__ void __launch_bounds__(CUT_THREADS)                                                             \
        grammask_cut_##name(Batch batch, const Settings *settings, const u64 *tiles, Cut *cuts) {                         \
        find_cut<T>(batch, settings, tiles, cuts);                                                                        \
    }                                                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                                 \
        grammask_sum_##name(Batch batch, const Settings *settings, const Cut *cuts, double *sums) {                       \
        sum<T>(batch, settings, cuts, sums);                                                                              \
    }                                                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                                 \
        grammask_draw_##name(Batch batch, const Settings *settings, const Cut *cuts, const double *sums, int *out) {      \
        draw<T>(batch, settings, cuts, sums, out);                                                                        \
    }

KERNELS(F32, f32)
KERNELS(F16, f16)
KERNELS(Bf16, bf16)
