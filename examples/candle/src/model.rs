//! A llama: from GGUF, or tiny with random weights.
//!
//! `candle-transformers` has this model too. Its `forward` returns the logits of the last token alone, and its cache
//! cannot be shortened. A draft is checked in one pass, which needs the logits behind every guess, and is taken back
//! where a guess was wrong.

use std::io::{Read, Seek};

use anyhow::{Context, Result, ensure};
use candle_core::quantized::gguf_file::Content;
use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{Device, Module, Tensor};
use candle_nn::ops::{rms_norm, silu, softmax_last_dim};
use candle_nn::rotary_emb::rope_i;

/// Weights. Shared by all texts.
pub struct Llama {
    embeddings: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    output: QMatMul,
    cos: Tensor,
    sin: Tensor,
    shape: Shape,
}

struct Shape {
    width: usize,
    inner: usize,
    heads: usize,
    key_heads: usize,
    /// Most tokens of a text.
    context: usize,
    epsilon: f32,
    rope_base: f32,
}

struct Layer {
    attention_norm: Tensor,
    query: QMatMul,
    key: QMatMul,
    value: QMatMul,
    attention_output: QMatMul,
    feed_norm: Tensor,
    gate: QMatMul,
    up: QMatMul,
    down: QMatMul,
}

/// Keys and values of the tokens that a text's model has read.
#[derive(Clone)]
pub struct Cache {
    layers: Vec<Option<(Tensor, Tensor)>>,
    len: usize,
}

impl Cache {
    /// Tokens that were read.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets all tokens but the first.
    pub fn truncate(&mut self, len: usize) -> Result<()> {
        if len >= self.len {
            return Ok(());
        }
        for layer in &mut self.layers {
            *layer = match layer.take() {
                Some((keys, values)) if len > 0 => Some((keys.narrow(2, 0, len)?, values.narrow(2, 0, len)?)),
                _ => None,
            };
        }
        self.len = len;
        Ok(())
    }
}

/// Where weights come from.
trait Source {
    fn vector(&mut self, name: &str, len: usize) -> Result<Tensor>;

    fn matrix(&mut self, name: &str, rows: usize, columns: usize) -> Result<QMatMul>;
}

struct Gguf<'f, R> {
    content: &'f Content,
    file: &'f mut R,
}

impl<R: Read + Seek> Gguf<'_, R> {
    fn tensor(&mut self, name: &str) -> Result<QTensor> {
        let name = format!("{name}.weight");
        self.content.tensor(self.file, &name, &Device::Cpu).with_context(|| format!("the tensor `{name}`"))
    }
}

impl<R: Read + Seek> Source for Gguf<'_, R> {
    fn vector(&mut self, name: &str, _: usize) -> Result<Tensor> {
        Ok(self.tensor(name)?.dequantize(&Device::Cpu)?)
    }

    fn matrix(&mut self, name: &str, _: usize, _: usize) -> Result<QMatMul> {
        matrix(self.tensor(name)?)
    }
}

/// candle multiplies by matrices of these types one number at a time, and by those of 8 bits many at once.
fn matrix(stored: QTensor) -> Result<QMatMul> {
    let stored = match stored.dtype() {
        GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1 => {
            QTensor::quantize(&stored.dequantize(&Device::Cpu)?, GgmlDType::Q8_0)?
        }
        _ => stored,
    };
    Ok(QMatMul::from_qtensor(stored)?)
}

struct Random(fastrand::Rng);

impl Random {
    /// Even between bounds that keep the size of what is multiplied.
    fn tensor(&mut self, rows: usize, columns: usize) -> Result<Tensor> {
        let bound = (3.0 / columns as f32).sqrt();
        let mut draw = || (self.0.f32() * 2.0 - 1.0) * bound;
        let values: Vec<f32> = (0..rows * columns).map(|_| draw()).collect();
        Ok(Tensor::from_vec(values, (rows, columns), &Device::Cpu)?)
    }
}

impl Source for Random {
    fn vector(&mut self, _: &str, len: usize) -> Result<Tensor> {
        Ok(Tensor::from_vec(vec![1_f32; len], len, &Device::Cpu)?)
    }

    fn matrix(&mut self, _: &str, rows: usize, columns: usize) -> Result<QMatMul> {
        Ok(QMatMul::Tensor(self.tensor(rows, columns)?))
    }
}

impl Llama {
    /// Reads the weights of a file.
    pub fn from_gguf<R: Read + Seek>(content: &Content, file: &mut R) -> Result<Self> {
        let value = |key: &str| content.metadata.get(key).with_context(|| format!("the file has no `{key}`"));
        let architecture = value("general.architecture")?.to_string()?;
        ensure!(architecture == "llama", "the file holds a `{architecture}`; give a llama");
        let number = |key: &str| anyhow::Ok(value(&format!("llama.{key}"))?.to_u32()? as usize);
        let shape = Shape {
            width: number("embedding_length")?,
            inner: number("feed_forward_length")?,
            heads: number("attention.head_count")?,
            key_heads: number("attention.head_count_kv")?,
            context: number("context_length")?,
            epsilon: value("llama.attention.layer_norm_rms_epsilon")?.to_f32()?,
            rope_base: value("llama.rope.freq_base").map_or(Ok(10_000.0), |base| base.to_f32())?,
        };
        let blocks = number("block_count")?;
        let mut source = Gguf { content, file };
        let tied = source.tensor("token_embd")?;
        let embeddings = tied.dequantize(&Device::Cpu)?;
        let output = match content.tensor_infos.contains_key("output.weight") {
            true => source.matrix("output", 0, 0)?,
            false => matrix(tied)?,
        };
        Self::new(source, shape, blocks, embeddings, output)
    }

    /// A tiny model whose weights depend on the seed alone.
    pub fn random(tokens: usize, seed: u64) -> Result<Self> {
        let shape = Shape {
            width: 64,
            inner: 128,
            heads: 4,
            key_heads: 2,
            context: 8192,
            epsilon: 1e-5,
            rope_base: 10_000.0,
        };
        let mut source = Random(fastrand::Rng::with_seed(seed));
        let embeddings = source.tensor(tokens, shape.width)?;
        let output = source.matrix("output", tokens, shape.width)?;
        Self::new(source, shape, 2, embeddings, output)
    }

    fn new(
        mut source: impl Source,
        shape: Shape,
        blocks: usize,
        embeddings: Tensor,
        output: QMatMul,
    ) -> Result<Self> {
        let (width, inner) = (shape.width, shape.inner);
        let key_width = width / shape.heads * shape.key_heads;
        let layer = |block: usize| {
            let mut vector = |name: &str| source.vector(&format!("blk.{block}.{name}"), width);
            let (attention_norm, feed_norm) = (vector("attn_norm")?, vector("ffn_norm")?);
            let mut matrix =
                |name: &str, rows, columns| source.matrix(&format!("blk.{block}.{name}"), rows, columns);
            anyhow::Ok(Layer {
                attention_norm,
                query: matrix("attn_q", width, width)?,
                key: matrix("attn_k", key_width, width)?,
                value: matrix("attn_v", key_width, width)?,
                attention_output: matrix("attn_output", width, width)?,
                feed_norm,
                gate: matrix("ffn_gate", inner, width)?,
                up: matrix("ffn_up", inner, width)?,
                down: matrix("ffn_down", width, inner)?,
            })
        };
        let layers = (0..blocks).map(layer).collect::<Result<_>>()?;
        let norm = source.vector("output_norm", width)?;
        let (cos, sin) = rotations(&shape)?;
        Ok(Self { embeddings, layers, norm, output, cos, sin, shape })
    }

    /// Tokens that the logits speak of.
    pub fn tokens(&self) -> usize {
        self.embeddings.dims()[0]
    }

    /// Most tokens of a text.
    pub fn context(&self) -> usize {
        self.shape.context
    }

    /// The cache of a text that begins.
    pub fn cache(&self) -> Cache {
        Cache { layers: vec![None; self.layers.len()], len: 0 }
    }

    /// Reads tokens that follow those in the cache. Returns the logits behind the last `rows` of them, row by row.
    pub fn forward(&self, tokens: &[u32], rows: usize, cache: &mut Cache) -> Result<Vec<f32>> {
        let (len, before) = (tokens.len(), cache.len);
        ensure!(before + len <= self.shape.context, "the text has more than {} tokens", self.shape.context);
        let mask = match len {
            1 => None,
            _ => Some(causal_mask(len, before)?),
        };
        let mut stream =
            self.embeddings.index_select(&Tensor::new(tokens, &Device::Cpu)?, 0)?.unsqueeze(0)?;
        for (layer, kept) in self.layers.iter().zip(&mut cache.layers) {
            let read = rms_norm(&stream, &layer.attention_norm, self.shape.epsilon)?;
            stream = (stream + self.attend(layer, &read, before, mask.as_ref(), kept)?)?;
            let read = rms_norm(&stream, &layer.feed_norm, self.shape.epsilon)?;
            let gated = (silu(&layer.gate.forward(&read)?)? * layer.up.forward(&read)?)?;
            stream = (stream + layer.down.forward(&gated)?)?;
        }
        cache.len += len;
        let last = stream.narrow(1, len - rows, rows)?.contiguous()?;
        let logits = self.output.forward(&rms_norm(&last, &self.norm, self.shape.epsilon)?)?;
        Ok(logits.flatten_all()?.to_vec1()?)
    }

    fn attend(
        &self,
        layer: &Layer,
        read: &Tensor,
        before: usize,
        mask: Option<&Tensor>,
        kept: &mut Option<(Tensor, Tensor)>,
    ) -> Result<Tensor> {
        let (_, len, width) = read.dims3()?;
        let Shape { heads, key_heads, .. } = self.shape;
        let head = width / heads;
        let split = |matrix: &QMatMul, heads: usize| {
            matrix.forward(read)?.reshape((1, len, heads, head))?.transpose(1, 2)?.contiguous()
        };
        let (cos, sin) = (self.cos.narrow(0, before, len)?, self.sin.narrow(0, before, len)?);
        let query = rope_i(&split(&layer.query, heads)?, &cos, &sin)?;
        let mut keys = rope_i(&split(&layer.key, key_heads)?, &cos, &sin)?;
        let mut values = split(&layer.value, key_heads)?;
        if let Some((old_keys, old_values)) = kept.take() {
            keys = Tensor::cat(&[old_keys, keys], 2)?;
            values = Tensor::cat(&[old_values, values], 2)?;
        }
        *kept = Some((keys.clone(), values.clone()));
        let total = before + len;
        // Several heads of queries share one of keys and values.
        let shared = |tensor: Tensor| {
            let each = (1, key_heads, heads / key_heads, total, head);
            tensor.unsqueeze(2)?.expand(each)?.reshape((1, heads, total, head))?.contiguous()
        };
        let scores = (query.matmul(&shared(keys)?.t()?)? / (head as f64).sqrt())?;
        let scores = match mask {
            Some(mask) => scores.broadcast_add(mask)?,
            None => scores,
        };
        let mixed = softmax_last_dim(&scores)?.matmul(&shared(values)?)?;
        Ok(layer.attention_output.forward(&mixed.transpose(1, 2)?.reshape((1, len, width))?)?)
    }
}

/// The angles by which the pairs of a head are turned at each place.
fn rotations(shape: &Shape) -> Result<(Tensor, Tensor)> {
    let head = shape.width / shape.heads;
    let speeds = (0..head).step_by(2).map(|pair| shape.rope_base.powf(-(pair as f32) / head as f32));
    let speeds = Tensor::from_vec(speeds.collect(), (1, head / 2), &Device::Cpu)?;
    let places = (0..shape.context).map(|place| place as f32).collect();
    let angles = Tensor::from_vec(places, (shape.context, 1), &Device::Cpu)?.matmul(&speeds)?;
    Ok((angles.cos()?, angles.sin()?))
}

/// The addition to the scores: minus infinity for tokens that come later.
fn causal_mask(len: usize, before: usize) -> Result<Tensor> {
    let total = before + len;
    let score = |row: usize, column: usize| if column > before + row { f32::NEG_INFINITY } else { 0.0 };
    let scores = (0..len).flat_map(|row| (0..total).map(move |column| score(row, column))).collect();
    Ok(Tensor::from_vec(scores, (len, total), &Device::Cpu)?)
}
