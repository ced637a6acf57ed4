import type { AnyRef, Delivered, Ref } from '@troupe/core';
import type { BodySource } from '../body/body-source.js';
import type { OutgoingBody, OutgoingBodyOptions } from '../body/outgoing-body.js';
import type { CloseReason } from '../connection/close-reason.js';
import type { WriteRefusal, WriteResult } from '../connection/connection-handler.js';
import type { ReceivedFrame } from '../connection/received-frame.js';
import type { PeerError, WireErrorDetail, WireErrorName } from '../connection/wire-error.js';
import type { FrameHeader } from '../frame/frame-header.js';
import type { HandshakeResult } from '../handshake/handshake-result.js';

export interface OutboundFrame {
  readonly type: number;
  readonly header: FrameHeader;
  readonly body: Uint8Array;
}

export interface OutboundBody extends OutgoingBodyOptions {
  readonly type: number;
  readonly header: FrameHeader;
  readonly source: BodySource;
}

/** The messages of a connection actor. */
export interface ConnectionProtocol {
  write(outbound: OutboundFrame): WriteResult;
  writeBody(outbound: OutboundBody): OutgoingBody | WriteRefusal;
  writeError(error: { readonly name: WireErrorName } & WireErrorDetail): void;
  handshake(): HandshakeResult;
  drain(graceMs: number): void;
  close(): void;
}

export type ConnectionRef = Ref<ConnectionProtocol>;

/** `frame.body` is a view, valid until the handler returns; `frame.detach()` copies it. */
export interface FrameArrived {
  readonly connection: ConnectionRef;
  readonly frame: ReceivedFrame;
}

export interface ConnectionOpened {
  readonly connection: ConnectionRef;
  readonly handshake: HandshakeResult;
}

export interface ConnectionClosed {
  readonly connection: ConnectionRef;
  readonly reason: CloseReason;
}

export type ConnectionNotice =
  | { readonly connection: ConnectionRef; readonly kind: 'draining'; readonly graceMs: number }
  | { readonly connection: ConnectionRef; readonly kind: 'peer-error'; readonly error: PeerError };

/**
 * The actor that receives the events of connections: any actor with the handlers `opened`, `frame`, `notice`
 * and `closed`. While its mailbox is full, nothing is read from the socket.
 */
export interface ConnectionReceiver extends AnyRef {
  readonly offer: {
    opened(opened: ConnectionOpened): Delivered;
    frame(arrived: FrameArrived): Delivered;
    notice(notice: ConnectionNotice): Delivered;
    closed(closed: ConnectionClosed): Delivered;
  };
  readonly send: {
    opened(opened: ConnectionOpened): Promise<void>;
    frame(arrived: FrameArrived): Promise<void>;
    notice(notice: ConnectionNotice): Promise<void>;
    closed(closed: ConnectionClosed): Promise<void>;
  };
}
