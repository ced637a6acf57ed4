/** Frame types of jobs in the full dialect (docs/wire-protocol.md §11). The minimal dialect has 1–5, too. */
export const JobFrameType = {
  Submit: 1,
  Assign: 2,
  Report: 3,
  Outcomes: 5,
  ClientHello: 64,
  WorkerHello: 65,
  SessionWelcome: 66,
  SessionRefused: 67,
  Define: 68,
  SubmitAll: 69,
  Await: 70,
  Call: 71,
  Answer: 72,
  Receipts: 73,
  Acknowledged: 74,
  Abort: 75,
  Drain: 76,
  Heartbeat: 77,
  Ends: 78,
  HeartbeatHello: 79,
  LoopBlocked: 80,
  Close: 81,
  Stale: 82,
  Chunks: 83,
  StreamWindows: 84,
  ReadStream: 85,
  StreamConsumed: 86,
  StopStream: 87,
  StreamItems: 88,
  OpenFeed: 96,
  Feed: 97,
  CloseFeed: 98,
  FeedStates: 99,
  FedItems: 100,
  FeedRequests: 101,
} as const;

/**
 * A list is cut into frames of about this size. It is below the size that the transport sends by reference,
 * so both ends work in buffers that they keep: a larger frame costs a new buffer at the sender and, since it
 * does not arrive in one piece, another at the receiver (docs/performance.md).
 */
export const FRAME_BYTES = 12 * 1024;
