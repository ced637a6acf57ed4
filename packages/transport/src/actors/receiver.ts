import type { AnyRef, Delivered, RefOf } from '@troupe/core';
import type { AnswerDetail, AnswerName, PeerError } from '../connection/answer.js';
import type { BodySource } from '../connection/body-source.js';
import type { CloseReason } from '../connection/close-reason.js';
import type { Sent, Unsent } from '../connection/connection-handler.js';
import type { Frame } from '../connection/frame.js';
import type { OutgoingBody, OutgoingBodyOptions } from '../connection/outgoing-body.js';
import type { FrameHeader } from '../frame/header.js';
import type { Session } from '../handshake/session.js';

export interface Outbound {
  readonly type: number;
  readonly header: FrameHeader;
  readonly body: Uint8Array;
}

export interface OutboundBody extends OutgoingBodyOptions {
  readonly type: number;
  readonly header: FrameHeader;
  readonly source: BodySource;
}

/** What a connection actor handles. */
export type ConnectionMessages = {
  readonly send: (ctx: never, outbound: Outbound) => Sent;
  readonly sendBody: (ctx: never, outbound: OutboundBody) => OutgoingBody | Unsent;
  readonly answer: (ctx: never, answer: { readonly name: AnswerName } & AnswerDetail) => void;
  readonly session: (ctx: never) => Session;
  readonly goodbye: (ctx: never, graceMs: number) => void;
  readonly close: (ctx: never) => void;
};

export type ConnectionRef = RefOf<ConnectionMessages>;

/** One message from a peer. `frame.body` is a view: `frame.detach()` what must outlive the handler. */
export interface Inbound {
  readonly connection: ConnectionRef;
  readonly frame: Frame;
}

export interface Opened {
  readonly connection: ConnectionRef;
  readonly session: Session;
}

export interface Closed {
  readonly connection: ConnectionRef;
  readonly reason: CloseReason;
}

export type Notice =
  | { readonly connection: ConnectionRef; readonly kind: 'goodbye'; readonly graceMs: number }
  | { readonly connection: ConnectionRef; readonly kind: 'peer-error'; readonly error: PeerError };

/**
 * The actor that gets what connections bring: any actor with the handlers `opened`, `frame`, `notice` and `closed`. While its mailbox is
 * full, nothing is read from the socket.
 */
export interface Receiver extends AnyRef {
  readonly offer: {
    opened(opened: Opened): Delivered;
    frame(inbound: Inbound): Delivered;
    notice(notice: Notice): Delivered;
    closed(closed: Closed): Delivered;
  };
  readonly send: {
    opened(opened: Opened): Promise<void>;
    frame(inbound: Inbound): Promise<void>;
    notice(notice: Notice): Promise<void>;
    closed(closed: Closed): Promise<void>;
  };
}
