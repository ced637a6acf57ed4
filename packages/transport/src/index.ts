export { Directory, type Entry, type KeyOwner } from './access/directory.js';
export { type Action, Identity, type IdentityRules, LOCAL, type Role } from './access/identity.js';
export { type Limits, limitsOf, type Profile } from './access/limits.js';
export { Secret } from './access/secret.js';
export { isPattern, isSubject, matches } from './access/subject-pattern.js';
export type {
  Closed,
  ConnectionMessages,
  ConnectionRef,
  Inbound,
  Notice,
  Opened,
  Outbound,
  OutboundBody,
  Receiver,
} from './actors/receiver.js';
export { TcpConnection } from './actors/tcp-connection.js';
export { TcpDialer, type TcpDialerArgs, type TcpDialerMessages } from './actors/tcp-dialer.js';
export { TcpListener, type TcpListenerArgs, type TcpListenerMessages } from './actors/tcp-listener.js';
export {
  ANSWERS,
  type Answer,
  type AnswerDetail,
  type AnswerName,
  type PeerError,
} from './connection/answer.js';
export { type BodySource, bodyFromBytes, bodyFromIterable } from './connection/body-source.js';
export { type CloseReason, describeClose } from './connection/close-reason.js';
export { Connection } from './connection/connection.js';
export type { ConnectionHandler, Sent, Unsent } from './connection/connection-handler.js';
export { Frame } from './connection/frame.js';
export { type BodyReader, IncomingBody } from './connection/incoming-body.js';
export { type BodyOutcome, OutgoingBody, type OutgoingBodyOptions } from './connection/outgoing-body.js';
export { BACKOFF, type Backoff } from './dialer/backoff.js';
export { Dialer, type DialerEvent, type DialerOptions } from './dialer/dialer.js';
export {
  BodyBrokenError,
  BodyCorruptError,
  ConnectionStateError,
  HeaderError,
  ListenError,
  PayloadBombError,
  RuleError,
  SecretError,
  TransportError,
  UnsafeBindError,
} from './errors.js';
export { type PackedBody, packBody, unpackBody } from './frame/compression.js';
export {
  FRAME_HEAD_BYTES,
  FrameDecoder,
  type FrameSink,
  type FrameViolation,
} from './frame/frame-decoder.js';
export { FrameType } from './frame/frame-type.js';
export { FrameWriter } from './frame/frame-writer.js';
export { type Compression, type FrameHeader, NO_HEADER } from './frame/header.js';
export type { DialerAuth } from './handshake/dialer-handshake.js';
export type { Capacity, Method } from './handshake/hello.js';
export type { ChannelFacts, ListenerAuth } from './handshake/listener-handshake.js';
export type { Session } from './handshake/session.js';
export { Listener, type ListenerEvent, type ListenerOptions } from './listener/listener.js';
export { formatAddress, isLocal } from './net/address.js';
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
} from './net/net.js';
export { bodyFromFile } from './net/node-body.js';
export { nodeClock } from './net/node-clock.js';
export { nodeNet } from './net/node-net.js';
