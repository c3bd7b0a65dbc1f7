//! Answers, whole or in pieces.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::State;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt};
use grammask::{CompiledGrammar, Compiler};
use grammask_candle::{Ending, Llama, Text, generate};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};

use crate::parts::{Part, Splitter};
use crate::request::{Refusal, Request};

/// The state that all requests share.
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) model: Llama,
    pub(crate) text: Text,
    pub(crate) compiler: Compiler,
    /// The model writes one answer at a time.
    pub(crate) turn: Semaphore,
    pub(crate) answers: AtomicU64,
}

/// News of an answer.
enum News {
    Part(Part),
    End { reason: &'static str, usage: Value },
    Failed(Refusal),
}

/// `GET /v1/models`
pub(crate) async fn models(State(server): State<Arc<Server>>) -> Json<Value> {
    let model = json!({"id": server.name, "object": "model", "created": 0, "owned_by": "grammask"});
    Json(json!({"object": "list", "data": [model]}))
}

/// `POST /v1/chat/completions`
pub(crate) async fn completions(
    State(server): State<Arc<Server>>,
    Json(body): Json<Value>,
) -> Result<Response, Refusal> {
    let request = Request::read(&body)?;
    if request.model != server.name {
        let message = format!("there is no model `{}` here, but `{}`", request.model, server.name);
        return Err(Refusal::bad(message, Some("model".to_owned())));
    }
    let prompt = server.text.prompt(&request.messages, request.tools.as_ref());
    let prompt = prompt.map_err(|error| Refusal::bad(format!("{error:#}"), Some("messages".to_owned())))?;
    let number = server.answers.fetch_add(1, Ordering::Relaxed);
    let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let head = json!({"id": format!("chatcmpl-{number}"), "created": created, "model": server.name});
    let (stream, include_usage) = (request.stream, request.include_usage);

    let compiling = Arc::clone(&server);
    let compiled = tokio::task::spawn_blocking(move || {
        let grammar = request.compile(&compiling.compiler);
        grammar.map(|grammar| (request, grammar))
    });
    let (request, grammar) = compiled.await.map_err(Refusal::failed)??;
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        let Ok(_turn) = server.turn.acquire().await else { return };
        let writing = Arc::clone(&server);
        let written =
            tokio::task::spawn_blocking(move || write(&writing, &request, &prompt, grammar, &sender));
        // The next answer waits until this one is written.
        let _ = written.await;
    });
    match stream {
        true => Ok(Sse::new(events(head, receiver, include_usage)).into_response()),
        false => whole(head, receiver).await.map(IntoResponse::into_response),
    }
}

/// Writes the answer, and tells of it until nobody listens.
fn write(
    server: &Server,
    request: &Request,
    prompt: &[u32],
    grammar: Option<CompiledGrammar>,
    sender: &mpsc::Sender<News>,
) {
    let mut splitter = Splitter::new(request.tools.is_some());
    let mut has_calls = false;
    let mut tell = |part| {
        has_calls |= matches!(part, Part::Call { .. });
        match sender.blocking_send(News::Part(part)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    let matcher = grammar.as_ref().map(CompiledGrammar::matcher);
    let answer = generate(&server.model, &server.text, prompt, matcher, &request.settings, |piece| {
        splitter.push(piece).into_iter().try_for_each(&mut tell)
    });
    if let Some(part) = splitter.finish() {
        let _ = tell(part);
    }
    let end = match answer {
        Ok(answer) => {
            let reason = match answer.ending {
                Ending::Length => "length",
                _ if has_calls => "tool_calls",
                _ => "stop",
            };
            let (before, after) = (prompt.len(), answer.tokens);
            let usage =
                json!({"prompt_tokens": before, "completion_tokens": after, "total_tokens": before + after});
            News::End { reason, usage }
        }
        Err(error) => News::Failed(Refusal::failed(format!("{error:#}"))),
    };
    // A client that has gone does not need the end.
    let _ = sender.blocking_send(end);
}

/// The answer as one object.
async fn whole(mut head: Value, mut news: mpsc::Receiver<News>) -> Result<Json<Value>, Refusal> {
    let (mut content, mut calls) = (String::new(), Vec::new());
    while let Some(news) = news.recv().await {
        match news {
            News::Part(Part::Text(text)) => content.push_str(&text),
            News::Part(Part::Call { name, arguments }) => calls.push(call(calls.len(), &name, &arguments)),
            News::Failed(refusal) => return Err(refusal),
            News::End { reason, usage } => {
                let mut message = json!({"role": "assistant", "content": content, "refusal": null});
                if !calls.is_empty() {
                    message["tool_calls"] = Value::Array(calls);
                    if content.trim().is_empty() {
                        message["content"] = Value::Null;
                    }
                }
                head["object"] = json!("chat.completion");
                head["choices"] =
                    json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}]);
                head["usage"] = usage;
                return Ok(Json(head));
            }
        }
    }
    Err(Refusal::failed("the answer was not written"))
}

fn call(index: usize, name: &str, arguments: &str) -> Value {
    json!({
        "id": format!("call_{index}"),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    })
}

/// The answer as events.
fn events(
    mut head: Value,
    news: mpsc::Receiver<News>,
    include_usage: bool,
) -> impl Stream<Item = Result<Event, Infallible>> {
    head["object"] = json!("chat.completion.chunk");
    let chunk = move |delta: Value, reason: Option<&str>| {
        let mut chunk = head.clone();
        chunk["choices"] = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}]);
        if include_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    };
    let mut calls = 0;
    let first = chunk(json!({"role": "assistant", "content": ""}), None).to_string();
    let news = stream::unfold(news, async |mut news| news.recv().await.map(|next| (next, news)));
    let rest = news.map(move |news| match news {
        News::Part(Part::Text(text)) => vec![chunk(json!({"content": text}), None).to_string()],
        News::Part(Part::Call { name, arguments }) => {
            let mut call = call(calls, &name, &arguments);
            call["index"] = json!(calls);
            calls += 1;
            vec![chunk(json!({"tool_calls": [call]}), None).to_string()]
        }
        News::Failed(refusal) => vec![refusal.to_json().to_string()],
        News::End { reason, usage } => {
            let mut chunks = vec![chunk(json!({}), Some(reason)).to_string()];
            if include_usage {
                let mut last = chunk(json!({}), None);
                last["choices"] = json!([]);
                last["usage"] = usage;
                chunks.push(last.to_string());
            }
            chunks.push("[DONE]".to_owned());
            chunks
        }
    });
    let chunks = stream::once(async { vec![first] }).chain(rest);
    chunks.flat_map(|chunks| stream::iter(chunks.into_iter().map(|data| Ok(Event::default().data(data)))))
}
