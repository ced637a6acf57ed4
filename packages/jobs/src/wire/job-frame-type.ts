/** Frame types of the job protocol in the full dialect (docs/wire-protocol.md §11). 1–5 keep the numbers of the original page. */
export const JobFrame = {
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
  Settled: 74,
  Abort: 75,
  Quiet: 76,
  Beat: 77,
  Ends: 78,
  PulseHello: 79,
  Pulse: 80,
  Goodbye: 81,
} as const;

/**
 * A list is cut into frames of about this size. Below what the transport sends by reference, so that both ends work in buffers that they
 * keep: larger frames cost a new buffer at the sender, and one more at the receiver, because they do not arrive in one piece (ADR 0131).
 */
export const FRAME_BYTES = 12 * 1024;
