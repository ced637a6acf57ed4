/** Frame type numbers (docs/wire-protocol.md §1). 1–31 are the original page's, 32–63 the transport's, 64–255 the application's. */
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

/** Types whose payload has a header area and which belong to the application. */
export function isApplicationType(type: number): boolean {
  return (type >= FrameType.SubmitJob && type <= FrameType.Result) || type >= FrameType.FirstApplicationType;
}
