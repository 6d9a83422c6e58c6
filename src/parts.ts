/**
 * `hub-protocol/parts`: the parts of sessions, for ports of the protocol and their tests: frames, the prologue, the Noise
 * handshake and Argon2id. Also the types of rarer events and decisions, and of the parts of objects. `hub-protocol` exports the
 * rest, with JSON; no name is in both. Programs that use sessions need none of this.
 */

export type { LocalCode, RemoteCode } from './errors.ts';
export type { Endpoints, Protocols } from './identity/identity.ts';
export type { HubPin, HubPsk } from './keyring/keyring.ts';
export type {
  AskTold,
  BytesTold,
  CloseTold,
  ComputeOrder,
  ConnectingTold,
  ConnectTold,
  DeriveOrder,
  EndTold,
  EventTold,
  FinishTold,
  HubReplacedTold,
  OpenOrder,
  PartTold,
  ReconnectTold,
  SentTrace,
  ShutOrder,
  StopDerivingOrder,
  StoreOrder,
  TellOrder,
  TextTold,
  TraceTold,
  UnsentTold,
  WriteOrder,
} from './link/orders.ts';
export type { Mqtt } from './mqtt-topics/mqtt.ts';
export type { PresenceMessage } from './mqtt-topics/presence.ts';
export { Argon2id, argon2id } from './noise/argon2id.ts';
export type { Argon2idOptions } from './noise/argon2id-options.ts';
export type { HandshakeOptions } from './noise/handshake-options.ts';
export { HandshakeState } from './noise/handshake-state.ts';
export { protocolName } from './noise/patterns.ts';
export type { Transport } from './noise/transport.ts';
export type { AskDecision, AwaitingState, DialDecision, RestDecision } from './policy/connection-policy.ts';
export type { RequestFields } from './requests/build-request.ts';
export type { Choice, DisplayItem } from './requests/display-items.ts';
export type { Quota } from './requests/refusal.ts';
export type { ReplyEnding, ReplyState } from './requests/reply-collector.ts';
export type {
  HandleDecision,
  PartDecision,
  ReplyDeadlines,
  SendDecision,
} from './requests/request-scheduler.ts';
export type {
  CommonEvent,
  FailedEvent,
  HelloEvent,
  HubReadyEvent,
  NewHubEvent,
  PinClientEvent,
  PinEvent,
  PinSuspectEvent,
  PskEvent,
  PskSuspectEvent,
  StaticKeyFreshEvent,
  TransmitEvent,
  WaitingEvent,
} from './session/events.ts';
export { type NoiseSelection, type Offer, selectNoise } from './session/negotiation.ts';
export type { PskInputs } from './session/psk.ts';
export type { PlaintextOptions } from './url.ts';
export type { DroppedEvent, Reassembled } from './wire/frame-joiner.ts';
export { type MessageKind, splitMessage } from './wire/markers.ts';
export { buildPrologue } from './wire/prologue.ts';
export { Reassembler, type ReassemblerOptions } from './wire/reassembler.ts';
