/** `hub-protocol/recording`: sessions that are recorded as JSON lines, to find out later why a handshake failed. */

export {
  type Recorded,
  type RecordingOptions,
  recordClientSession,
  recordHubSession,
} from './recording/recording.ts';
