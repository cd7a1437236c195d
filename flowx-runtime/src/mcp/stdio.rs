//! MCP over standard input and output, for hosts that start the server themselves: one caller, one message a line.

use std::sync::Arc;

use bytes::Bytes;
use flowx_manifest::json::Limits;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, ServerInitializeError, ServiceExt};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use super::envelope::{Envelope, rpc_error};
use super::handler::{Endpoint, Handler};
use super::http::{McpStartError, endpoint};
use super::options::McpOptions;
use crate::core::Core;
use crate::identity::Principal;

/// Messages that are read ahead.
const READ_AHEAD: usize = 16;

/// Why serving over standard input and output ended with an error.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// It did not start.
    #[error(transparent)]
    Start(#[from] McpStartError),
    /// The first messages were none that open a conversation.
    #[error("the conversation could not be opened: {0}")]
    Opening(String),
    /// It broke while it ran.
    #[error("the conversation broke: {0}")]
    Broken(String),
}

/// Serves one caller over a pair of streams until the input ends or `shutdown`. Every line of output is a message, so nothing else
/// may be written there.
///
/// # Errors
/// When it does not start or breaks; the end of the input is no error.
pub async fn stdio<R, W>(
    core: Arc<Core>,
    options: &McpOptions,
    caller: Principal,
    (input, output): (R, W),
    shutdown: CancellationToken,
) -> Result<(), StdioError>
where
    R: tokio::io::AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let endpoint = endpoint(core, options)?;
    let handler = Handler {
        endpoint: Arc::clone(&endpoint),
        only: Some(Arc::new(caller)),
    };
    let (sender, messages) = mpsc::channel(READ_AHEAD);
    let output = Arc::new(Mutex::new(output));
    let reader = Reader {
        input: BufReader::new(input),
        output: Arc::clone(&output),
        limits: options.limits,
        messages: sender,
    };
    let reading = tokio::spawn(reader.run());
    let transport = Lines {
        endpoint,
        messages,
        output,
    };
    let served = async {
        let running = match handler.serve_with_ct(transport, shutdown).await {
            Ok(running) => running,
            // The input ended before it began.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(StdioError::Opening(error.to_string())),
        };
        running
            .waiting()
            .await
            .map(drop)
            .map_err(|error| StdioError::Broken(error.to_string()))
    };
    let result = served.await;
    reading.abort();
    result
}

/// Reads lines on a task of its own, since the library may drop a receive half-way and ask again.
struct Reader<R, W> {
    input: BufReader<R>,
    output: Arc<Mutex<W>>,
    limits: Limits,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
}

impl<R, W> Reader<R, W>
where
    R: tokio::io::AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    async fn run(mut self) {
        loop {
            let line = match line(&mut self.input, self.limits.bytes).await {
                Ok(None) => return,
                Ok(Some(line)) => line,
                Err(error) => {
                    tracing::warn!(%error, "the input broke");
                    return;
                }
            };
            if line.is_empty() {
                continue;
            }
            match read(&line, self.limits) {
                Ok(message) => {
                    if self.messages.send(message).await.is_err() {
                        return;
                    }
                }
                Err(answer) => {
                    if write(&self.output, [Bytes::from(answer)]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// A message with what was read strictly beside it, or the answer to what is none.
fn read(line: &[u8], limits: Limits) -> Result<ClientJsonRpcMessage, String> {
    let envelope = Envelope::read(line, limits)
        .map_err(|refusal| rpc_error(refusal.code(), &refusal.to_string(), None))?;
    if let Some(what) = envelope.bad_arguments() {
        return Err(rpc_error(-32602, what, envelope.id()));
    }
    let mut message: ClientJsonRpcMessage = serde_json::from_slice(line)
        .map_err(|_| rpc_error(-32600, "not a message of this protocol", envelope.id()))?;
    message.insert_extension(envelope);
    Ok(message)
}

/// One line without its end, cut off (and so refused) a little beyond the limit. `None` at the end of the input.
async fn line(
    input: &mut (impl AsyncBufRead + Unpin),
    limit: usize,
) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let some = input.fill_buf().await?;
        if some.is_empty() {
            return Ok(if line.is_empty() { None } else { Some(line) });
        }
        let end = some.iter().position(|&b| b == b'\n');
        let taken = end.unwrap_or(some.len());
        let room = (limit + 1).saturating_sub(line.len());
        line.extend_from_slice(&some[..taken.min(room)]);
        let consumed = end.map_or(taken, |end| end + 1);
        input.consume(consumed);
        if end.is_some() {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            return Ok(Some(line));
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(
    output: &Mutex<W>,
    pieces: impl IntoIterator<Item = Bytes>,
) -> std::io::Result<()> {
    let mut output = output.lock().await;
    for piece in pieces {
        output.write_all(&piece).await?;
    }
    output.write_all(b"\n").await?;
    output.flush().await
}

struct Lines<W> {
    endpoint: Arc<Endpoint>,
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    output: Arc<Mutex<W>>,
}

impl<W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer> for Lines<W> {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (endpoint, output) = (Arc::clone(&self.endpoint), Arc::clone(&self.output));
        async move {
            let text = Bytes::from(serde_json::to_vec(&message)?);
            let pieces = endpoint.splice.fill(&text).map_err(std::io::Error::other)?;
            write(&output, pieces).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.messages.close();
        self.output.lock().await.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines_of(text: &str, limit: usize) -> Vec<String> {
        let mut input = BufReader::with_capacity(4, text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = line(&mut input, limit)
            .await
            .expect("a slice does not break")
        {
            lines.push(String::from_utf8(line).expect("text"));
        }
        lines
    }

    #[tokio::test]
    async fn lines_are_read_with_either_end_and_without_the_last_one() {
        assert_eq!(
            lines_of("ab\ncd\r\n\nefghijkl", 100).await,
            ["ab", "cd", "", "efghijkl"]
        );
    }

    #[tokio::test]
    async fn a_line_beyond_the_limit_is_cut_and_the_next_is_whole() {
        assert_eq!(
            lines_of("abcdefghijklmnop\nqr\n", 5).await,
            ["abcdef", "qr"]
        );
        let refused = read(
            b"{\"jsonrpc\":\"2.0\"",
            Limits {
                bytes: 5,
                ..Limits::REQUEST
            },
        )
        .expect_err("too large");
        assert!(refused.contains("larger than 5 bytes"), "{refused}");
    }
}
