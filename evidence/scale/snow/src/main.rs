//! Handshakes of snow, both sides in this process. For each line of input, PATTERN COUNT, it runs so many and prints the
//! nanoseconds of CPU time that they took.
use std::io::{self, BufRead, Write};

use snow::{Builder, HandshakeState, Keypair};

const PROLOGUE: [u8; 200] = [1; 200];
const PSK: [u8; 32] = [2; 32];

fn side<'a>(name: &str, own: &'a Keypair, peer: &'a Keypair) -> Builder<'a> {
    let psk_at = if name.contains("KKpsk0") { 0 } else { 2 };
    let builder = Builder::new(name.parse().unwrap())
        .local_private_key(&own.private)
        .unwrap()
        .prologue(&PROLOGUE)
        .unwrap()
        .psk(psk_at, &PSK)
        .unwrap();
    if psk_at == 0 {
        builder.remote_public_key(&peer.public).unwrap()
    } else {
        builder
    }
}

fn send(from: &mut HandshakeState, to: &mut HandshakeState) {
    let mut message = [0; 256];
    let length = from.write_message(&[], &mut message).unwrap();
    to.read_message(&message[..length], &mut [0; 256]).unwrap();
}

fn handshake(name: &str, own: &Keypair, peer: &Keypair) {
    let mut initiator = side(name, own, peer).build_initiator().unwrap();
    let mut responder = side(name, peer, own).build_responder().unwrap();
    send(&mut initiator, &mut responder);
    send(&mut responder, &mut initiator);
    if !initiator.is_handshake_finished() {
        send(&mut initiator, &mut responder);
    }
    initiator.into_transport_mode().unwrap();
    responder.into_transport_mode().unwrap();
}

/// The CPU time of this process in nanoseconds, which Linux tells; elsewhere the clock's.
fn cpu_time(started: std::time::Instant) -> u64 {
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .unwrap_or_else(|| started.elapsed().as_nanos() as u64)
}

fn main() {
    let started = std::time::Instant::now();
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let (pattern, count) = line.split_once(' ').unwrap();
        let name = format!("Noise_{pattern}_25519_ChaChaPoly_SHA256");
        let keys = || Builder::new(name.parse().unwrap()).generate_keypair().unwrap();
        let (own, peer) = (keys(), keys());
        let began = cpu_time(started);
        for _ in 0..count.parse().unwrap() {
            handshake(&name, &own, &peer);
        }
        println!("{}", cpu_time(started) - began);
        io::stdout().flush().unwrap();
    }
}
