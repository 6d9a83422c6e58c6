/** `hub-protocol/recording`: records sessions as JSON lines, to find out later why a handshake failed. */

export {
  type Recorded,
  type RecordingOptions,
  recordClientSession,
  recordHubSession,
} from './recording/recording.ts';
