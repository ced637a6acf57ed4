/**
 * Frame type numbers (docs/wire-protocol.md §1). 1–31 are shared with the minimal dialect, 32–63 belong to
 * the transport, 64–255 to the application.
 */
export const FrameType = {
  SubmitJob: 1,
  AssignJob: 2,
  AckJob: 3,
  Credit: 4,
  Result: 5,
  HelloClient: 9,
  HelloWorker: 10,
  HelloPeer: 32,
  Challenge: 33,
  Auth: 34,
  Welcome: 35,
  Error: 36,
  Ping: 37,
  Pong: 38,
  Drain: 39,
  BodyChunk: 40,
  BodyCredit: 41,
  BodyAbort: 42,
  BodyStop: 43,
  FirstApplicationType: 64,
} as const;

export function isHello(type: number): boolean {
  return type === FrameType.HelloClient || type === FrameType.HelloWorker || type === FrameType.HelloPeer;
}

/** Types that are delivered to the application; their payload begins with a header area. */
export function isApplicationType(type: number): boolean {
  return (type >= FrameType.SubmitJob && type <= FrameType.Result) || type >= FrameType.FirstApplicationType;
}
