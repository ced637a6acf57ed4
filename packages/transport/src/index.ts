export { type Action, Identity, type IdentityRules, type Role } from './access/identity.js';
export { type IdentityEntry, IdentityStore, type KeyOwner } from './access/identity-store.js';
export { Secret } from './access/secret.js';
export { isSubject, isSubjectPattern, matchesSubject, subjectTokenOf } from './access/subject-pattern.js';
export { type Profile, type TransportLimits, transportLimits } from './access/transport-limits.js';
export type {
  ConnectionEvents,
  ConnectionNotice,
  MakeSession,
  SessionRef,
} from './actors/connection-events.js';
export type { SessionConnection } from './actors/session-connection.js';
export { TcpDialer, type TcpDialerArgs, type TcpDialerProtocol } from './actors/tcp-dialer.js';
export { TcpListener, type TcpListenerArgs, type TcpListenerProtocol } from './actors/tcp-listener.js';
export { BodyBudget, type BodyReservation, BodyShare } from './body/body-budget.js';
export type { GatheredBody } from './body/body-gatherer.js';
export { type BodySource, bodyFromBytes, bodyFromIterable } from './body/body-source.js';
export type { BodyReader, IncomingBody } from './body/incoming-body.js';
export type { BodyOutcome, OutgoingBody, OutgoingBodyOptions } from './body/outgoing-body.js';
export { type CloseReason, formatCloseReason } from './connection/close-reason.js';
export type { Connection } from './connection/connection.js';
export type { ConnectionHandler, WriteRefusal, WriteResult } from './connection/connection-handler.js';
export { ReceivedFrame } from './connection/received-frame.js';
export {
  type PeerError,
  WIRE_ERRORS,
  type WireError,
  type WireErrorDetail,
  type WireErrorName,
} from './connection/wire-error.js';
export { Dialer, type DialerEvent, type DialerOptions } from './dialer/dialer.js';
export type { RedialBackoff } from './dialer/redial-backoff.js';
export { compressBody, decompressBody, type EncodedBody } from './frame/compression.js';
export { FrameDecoder, type FrameSink, type FrameViolation } from './frame/frame-decoder.js';
export { type Compression, type FrameHeader, NO_HEADER } from './frame/frame-header.js';
export { FrameType } from './frame/frame-type.js';
export { FrameWriter } from './frame/frame-writer.js';
export type { DialerAuth } from './handshake/dialer-handshake.js';
export type { HandshakeResult } from './handshake/handshake-result.js';
export type { AuthMethod, Capacity } from './handshake/hello.js';
export type { ChannelSecurity, ListenerAuth } from './handshake/listener-handshake.js';
export {
  Listener,
  type ListenerEvent,
  type ListenerOptions,
  type ListenerUsage,
} from './listener/listener.js';
export { SubmitQuota } from './listener/submit-quota.js';
export { formatAddress, formatAddresses, isLocal } from './net/address.js';
export type { Clock } from './net/clock.js';
export type {
  Address,
  DialHandler,
  DialTls,
  ListenHandler,
  ListenTls,
  Net,
  NetServer,
  NetSocket,
  SocketHandler,
} from './net/net-interface.js';
export { nodeClock } from './net/node-clock.js';
export { bodyFromFile } from './net/node-file-body.js';
export { nodeNet } from './net/node-net.js';
export {
  AccessRuleError,
  BodyBrokenError,
  BodyCorruptError,
  ConnectionStateError,
  HeaderError,
  ListenError,
  PayloadBombError,
  SecretError,
  TransportError,
  UnsafeBindError,
} from './transport-error.js';
