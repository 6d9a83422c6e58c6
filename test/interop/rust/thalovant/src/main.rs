//! An unmodified client, thalovant. It connects and reports the outcome in a line of JSON, then answers each line of its input:
//!
//!     {"ask": "hello"}             {"reply": "hello"}
//!     {"askForFile": "a file"}     {"file": hexadecimal}
//!     {"say": "hello"}             {"said": "hello"}, without waiting for a reply
//!     {"awaitLoss": true}          {"lost": true}, once it has noticed that its connection is lost
//!
//! or any with {"failed": message}. It connects again when it is asked something and has no connection. Its argument is a
//! JSON object: protocol ("wss" or "mqtt"), identity, and store, the folder of its keys.
use std::{env, error::Error, path::PathBuf, time::Duration};

use serde_json::{Value, json};
use thalovant::{
    AskOptions, Client, HubProtocol, HubSession, HubSessionPolicy, Identity, RequestOptions,
    RuntimeTransport, ThalovantError, session::alive,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader, stdin},
    time::{sleep, timeout},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let options: Value = serde_json::from_str(&env::args().nth(1).ok_or("options are missing")?)?;
    let client = match client_of(&options).await {
        Ok(client) => client,
        Err(error) => {
            println!("{}", outcome(Err(error)));
            return Ok(());
        }
    };
    let dialed = client.clone();
    let session = HubSession::new(
        move || {
            let client = dialed.clone();
            async move { client.connect().await.map(|()| client) }
        },
        HubSessionPolicy::default(),
    )?;
    println!("{}", outcome(session.connect().await));

    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let command: Value = serde_json::from_str(&line)?;
        let answer = if let Some(text) = command["ask"].as_str() {
            ask(&session, text).await
        } else if let Some(text) = command["askForFile"].as_str() {
            ask_for_file(&client, text).await
        } else if let Some(text) = command["say"].as_str() {
            say(&client, text).await
        } else {
            await_loss(&client).await
        };
        println!(
            "{}",
            answer.unwrap_or_else(|error| json!({ "failed": error.to_string() }))
        );
    }
    session.close().await?;
    Ok(())
}

async fn client_of(options: &Value) -> Result<Client, ThalovantError> {
    let identity = Identity::from_value(options["identity"].clone())?;
    let protocol = match options["protocol"].as_str() {
        Some("mqtt") => HubProtocol::Mqtt,
        _ => HubProtocol::Wss,
    };
    let client = Client::with_protocol(identity, protocol)?;
    let store = options["store"].as_str().map(PathBuf::from);
    match &client.transport {
        RuntimeTransport::Wss(transport) => transport.set_noise_state_dir(store).await,
        RuntimeTransport::Mqtt(transport) => transport.set_noise_state_dir(store).await,
        RuntimeTransport::Http(_) => {}
    }
    Ok(client)
}

/// What a connection came to, in one word and in the words of the client.
fn outcome(result: Result<(), ThalovantError>) -> Value {
    let Err(error) = result else {
        return json!({ "outcome": "ready" });
    };
    let kind = if error.is_client_key_rejected() {
        "client-key-rejected"
    } else if error.is_hub_key_changed() {
        "hub-key-changed"
    } else if error.is_hub_refused() {
        "refused"
    } else if error.is_timeout() {
        "timeout"
    } else {
        "failed"
    };
    json!({ "outcome": kind, "message": error.to_string() })
}

async fn ask(session: &HubSession, text: &str) -> Result<Value, ThalovantError> {
    let reply = session.ask(text, AskOptions::default()).await?;
    Ok(json!({ "reply": reply.text }))
}

/// Asks for a file, and returns the binary message that follows.
async fn ask_for_file(client: &Client, text: &str) -> Result<Value, ThalovantError> {
    let mut messages = client.transport.subscribe_hive();
    say(client, text).await?;
    let message = timeout(Duration::from_secs(10), messages.recv())
        .await
        .map_err(|_| ThalovantError::Timeout("no file arrived".into()))?
        .map_err(|error| ThalovantError::Runtime(error.to_string()))?;
    let data = message.binary.map(|binary| binary.data).unwrap_or_default();
    Ok(json!({ "file": hex::encode(data) }))
}

async fn say(client: &Client, text: &str) -> Result<Value, ThalovantError> {
    let options = RequestOptions::default();
    client.send_utterance(text, options).await?;
    Ok(json!({ "said": text }))
}

async fn await_loss(client: &Client) -> Result<Value, ThalovantError> {
    while alive(client).await {
        sleep(Duration::from_millis(10)).await;
    }
    Ok(json!({ "lost": true }))
}
