//! A small server of OpenAI's chat interface, under grammask's masks: a demonstration.
//!
//! `/v1/chat/completions` takes `response_format`, `tools` in the spelling of Hermes, and `stream`; `/v1/models` names
//! the one model. A field that would change an answer and is not known is refused. There is one answer at a time, no
//! authorisation, and no bound on how many requests wait: it is not made for the open network.

mod chat;
mod parts;
mod request;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use anyhow::{Context, Result};
use axum::Router;
use axum::routing::{get, post};
use clap::Parser;
use grammask::Compiler;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::chat::Server;

/// A small server of OpenAI's chat interface: a demonstration.
#[derive(Parser)]
struct Arguments {
    /// A llama in GGUF; a tiny one with random weights by default
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// The address to listen at
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// The port to listen at; 0 takes a free one
    #[arg(long, default_value_t = 8000)]
    port: u16,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let (model, text) = match &arguments.model {
        Some(path) => grammask_candle::load(path)?,
        None => grammask_candle::random(0)?,
    };
    let stem = arguments.model.as_deref().and_then(|path| path.file_stem());
    let server = Server {
        name: stem.map_or("random".into(), |stem| stem.to_string_lossy()).into_owned(),
        compiler: Compiler::new(text.vocabulary().clone()),
        model,
        text,
        turn: Semaphore::new(1),
        answers: AtomicU64::new(0),
    };
    let name = server.name.clone();
    let routes = Router::new()
        .route("/v1/models", get(chat::models))
        .route("/v1/chat/completions", post(chat::completions))
        .with_state(Arc::new(server));
    let address = (arguments.host.as_str(), arguments.port);
    let listener = TcpListener::bind(address).await.context("cannot listen there")?;
    println!("{name} at http://{}/v1", listener.local_addr()?);
    // Programs that start this one read the line from a pipe.
    std::io::stdout().flush()?;
    axum::serve(listener, routes).await?;
    Ok(())
}
