//! Answers the judge's Noise operations with snow: one JSON request per line of its input, one JSON response per line of
//! its output. It declines all other operations.
use std::io::{self, BufRead, Write};

use serde_json::{Value, json};
use snow::{Builder, Error, HandshakeState, StatelessTransportState, TransportState};

const MAX_MESSAGE: usize = 65535;

/// The handshake that the adapter holds, and the transport that it becomes.
#[derive(Default)]
struct Connection {
    handshake: Option<HandshakeState>,
    transport: Option<TransportState>,
}

impl Connection {
    fn answer(&mut self, request: &Value) -> Result<Value, Error> {
        match text(request, "op") {
            "handshake" => self.handshake(request),
            "seal" => self.seal(request),
            "open" => self.open(request),
            _ => Ok(json!({ "declined": true })),
        }
    }

    fn handshake(&mut self, request: &Value) -> Result<Value, Error> {
        if text(request, "do") == "start" {
            *self = Connection::default();
            self.handshake = Some(start(request)?);
            return Ok(json!({}));
        }
        let handshake = self.handshake.as_mut().expect("`start` comes first");
        let mut out = [0; MAX_MESSAGE];
        match text(request, "do") {
            "write" => {
                let length = handshake.write_message(&bytes(request, "payload"), &mut out)?;
                Ok(json!({ "message": hex::encode(&out[..length]) }))
            }
            "read" => {
                let length = handshake.read_message(&bytes(request, "message"), &mut out)?;
                Ok(json!({ "payload": hex::encode(&out[..length]) }))
            }
            "split" => {
                let handshake = self.handshake.take().expect("`split` comes once");
                let handshake_hash = hex::encode(handshake.get_handshake_hash());
                let transport = handshake.into_transport_mode()?;
                let remote = transport
                    .get_remote_static()
                    .expect("both patterns have one");
                let response = json!({ "handshakeHash": handshake_hash, "remoteStaticKey": hex::encode(remote) });
                self.transport = Some(transport);
                Ok(response)
            }
            _ => Ok(json!({ "declined": true })),
        }
    }

    fn seal(&mut self, request: &Value) -> Result<Value, Error> {
        let mut cipher = self.cipher(request)?;
        Ok(results(
            request,
            "plaintexts",
            "message",
            |plaintext, out| cipher.seal(plaintext, out),
        ))
    }

    fn open(&mut self, request: &Value) -> Result<Value, Error> {
        let mut cipher = self.cipher(request)?;
        Ok(results(request, "messages", "plaintext", |message, out| {
            cipher.open(message, out)
        }))
    }

    /// The cipher that the request describes, or else that of the handshake.
    fn cipher(&mut self, request: &Value) -> Result<Cipher<'_>, Error> {
        if request.get("suite").is_none() {
            let transport = self.transport.as_mut().expect("a handshake comes first");
            return Ok(Cipher::OfHandshake(transport));
        }
        Ok(Cipher::WithKey {
            transport: transport_with(text(request, "suite"), &key(request, "key"))?,
            counter: text(request, "counter").parse().expect("a counter"),
        })
    }
}

/// Only the stateless transport of snow seals with any counter. Its user counts.
enum Cipher<'a> {
    OfHandshake(&'a mut TransportState),
    WithKey {
        transport: StatelessTransportState,
        counter: u64,
    },
}

impl Cipher<'_> {
    fn seal(&mut self, plaintext: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        match self {
            Cipher::OfHandshake(transport) => transport.write_message(plaintext, out),
            Cipher::WithKey { transport, counter } => {
                let length = transport.write_message(*counter, plaintext, out)?;
                *counter += 1;
                Ok(length)
            }
        }
    }

    fn open(&mut self, message: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        match self {
            Cipher::OfHandshake(transport) => transport.read_message(message, out),
            Cipher::WithKey { transport, counter } => {
                let length = transport.read_message(*counter, message, out)?;
                *counter += 1;
                Ok(length)
            }
        }
    }
}

fn start(request: &Value) -> Result<HandshakeState, Error> {
    let pattern = text(request, "pattern");
    let name = format!("Noise_{pattern}_{}", text(request, "suite"));
    let (prologue, static_key, psk) = (
        bytes(request, "prologue"),
        bytes(request, "staticKey"),
        key(request, "psk"),
    );
    let (ephemeral_key, remote_static_key) = (
        bytes(request, "ephemeralKey"),
        bytes(request, "remoteStaticKey"),
    );
    let mut builder = Builder::new(name.parse()?)
        .prologue(&prologue)?
        .local_private_key(&static_key)?
        .fixed_ephemeral_key_for_testing_only(&ephemeral_key)
        .psk(if pattern == "KKpsk0" { 0 } else { 2 }, &psk)?;
    if !remote_static_key.is_empty() {
        builder = builder.remote_public_key(&remote_static_key)?;
    }
    match text(request, "role") {
        "initiator" => builder.build_initiator(),
        _ => builder.build_responder(),
    }
}

/// The transport of some handshake, with this key in both directions.
fn transport_with(suite: &str, key: &[u8; 32]) -> Result<StatelessTransportState, Error> {
    let build = || Ok::<_, Error>(Builder::new(format!("Noise_NN_{suite}").parse()?));
    let (mut initiator, mut responder) = (build()?.build_initiator()?, build()?.build_responder()?);
    let (mut message, mut payload) = ([0; 64], [0; 64]);
    let length = initiator.write_message(&[], &mut message)?;
    responder.read_message(&message[..length], &mut payload)?;
    let length = responder.write_message(&[], &mut message)?;
    initiator.read_message(&message[..length], &mut payload)?;
    let mut transport = initiator.into_stateless_transport_mode()?;
    transport.rekey_manually(Some(key), Some(key));
    Ok(transport)
}

/// The result of each input, also after a failure.
fn results(
    request: &Value,
    inputs: &str,
    output: &str,
    mut apply: impl FnMut(&[u8], &mut [u8]) -> Result<usize, Error>,
) -> Value {
    let mut out = [0; MAX_MESSAGE];
    let all: Vec<Value> = request[inputs]
        .as_array()
        .expect("a list of inputs")
        .iter()
        .map(|input| match apply(&decode(input), &mut out) {
            Ok(length) => json!({ output: hex::encode(&out[..length]) }),
            Err(_) => json!({ "error": "refused" }),
        })
        .collect();
    json!({ "results": all })
}

fn text<'a>(request: &'a Value, field: &str) -> &'a str {
    request[field].as_str().unwrap_or_default()
}

fn decode(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap_or_default()).expect("hexadecimal")
}

fn bytes(request: &Value, field: &str) -> Vec<u8> {
    decode(&request[field])
}

fn key(request: &Value, field: &str) -> [u8; 32] {
    bytes(request, field).try_into().expect("32 bytes")
}

fn main() {
    let mut connection = Connection::default();
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let mut response = connection
            .answer(&request)
            .unwrap_or_else(|_| json!({ "error": "refused" }));
        response["id"] = request["id"].clone();
        println!("{response}");
        io::stdout().flush().unwrap();
    }
}
