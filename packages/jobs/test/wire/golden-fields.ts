import { client, type GoldenFrame, toClient, toWorker, worker, workerHello } from './golden-frame.js';

const credit = { jobs: 4, bytes: 1_000_000 };
const failure = { name: 'Error', message: 'no' };
const item = { seq: 8, ref: 1, payload: '1', key: '', delayMs: 0, wantsOutcome: false };
const wide = {
  orderKey: 'order 7',
  tags: ['eu', 'née'],
  runAt: 1_795_000_000_000,
  holdsKey: true,
  trace: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
};

/** Messages with the optional fields, flags and words that came after the first frames. */
export const GOLDEN_FIELDS: readonly GoldenFrame[] = [
  client(
    'Define with every option',
    68,
    '0281047b2265786563223a226d61696c2e73656e64222c2267726f7570223a226d61696c222c227265747279223a7b22617474656d707473223a332c226261636b6f6666223a226578706f6e656e7469616c222c22626173654d73223a31302c226361704d73223a32302c226a6974746572223a302e352c2263726173686573223a322c2273746f704f6e223a5b224531222c224532225d7d2c226c656173654d73223a313030302c226c696d697473223a7b2272756e4d73223a323030302c226f75747075744279746573223a333030302c2273696c656e63654d73223a3530302c226665656442797465734d6178223a36353533362c226665656447726163654d73223a313030307d2c226b656570223a7b22646f6e654d73223a343030302c22646561644d73223a353030307d2c2273747265616d696e67223a22726573706f6e7365222c2273747265616d223a7b227768656e556e72656164223a2264726f702d776974682d676170222c2264757261626c65223a747275652c226275666665724279746573223a3133313037322c227370696c6c4279746573223a313034383537367d2c227072696f72697479223a392c22737461727457697468696e4d73223a36303030302c227265717569726573223a5b22677075222c226c696e7578225d2c226f726465726564223a747275652c22737469636b79223a747275657d',
    {
      kind: 'define',
      ref: 2,
      policy: {
        exec: 'mail.send',
        group: 'mail',
        retry: {
          attempts: 3,
          backoff: 'exponential',
          baseMs: 10,
          capMs: 20,
          jitter: 0.5,
          crashes: 2,
          stopOn: ['E1', 'E2'],
        },
        leaseMs: 1_000,
        limits: {
          runMs: 2_000,
          outputBytes: 3_000,
          silenceMs: 500,
          feedBytesMax: 65_536,
          feedGraceMs: 1_000,
        },
        keep: { doneMs: 4_000, deadMs: 5_000 },
        streaming: 'response',
        stream: { whenUnread: 'drop-with-gap', durable: true, bufferBytes: 131_072, spillBytes: 1_048_576 },
        priority: 9,
        startWithinMs: 60_000,
        requires: ['gpu', 'linux'],
        ordered: true,
        sticky: true,
      },
    },
  ),
  client(
    'Submit with order key, tags, instant and held key',
    1,
    '07080182026b315c013730302d30616637363531393136636434336464383434386562323131633830333139632d623761643662373136393230333333312d303103076f7264657220370a0765750a6ec3a9650b0d313739353030303030303030300c000131',
    {
      kind: 'submit',
      low: 7,
      items: [{ ...item, key: 'k1', ...wide }],
    },
  ),
  client('SubmitAll with tags', 69, '07080180040a026575013101800903076f7264657220370131', {
    kind: 'submit_all',
    low: 7,
    seq: 8,
    items: [
      { ...item, tags: ['eu'] },
      { ...item, orderKey: 'order 7' },
    ],
  }),
  toClient(
    'SessionWelcome with a level of durability',
    66,
    '01020773747265616d73056665656473056162636465e8078080400c010a7265706c696361746564',
    {
      kind: 'welcome',
      protocol: 1,
      features: ['streams', 'feeds'],
      tag: 'abcde',
      outstandingMax: 1_000,
      payloadBytesMax: 1_048_576,
      level: 'replicated',
    },
  ),
  toClient('SessionRefused, malformed', 67, '000377687900', {
    kind: 'refused',
    code: 'ERR_SESSION_MALFORMED',
    problem: 'why',
  }),
  toClient('SessionRefused, replaced', 67, '010377687900', {
    kind: 'refused',
    code: 'ERR_SESSION_REPLACED',
    problem: 'why',
  }),
  toClient('SessionRefused, stopped', 67, '030377687900', {
    kind: 'refused',
    code: 'ERR_SESSION_STOPPED',
    problem: 'why',
  }),
  toClient('Outcomes of every state', 5, '0000800a0108077b226e223a317d010100020200030300', {
    kind: 'outcomes',
    items: (['done', 'dead', 'cancelled', 'unknown'] as const).map((state, job) => ({
      job,
      state,
      result: undefined,
      reason: '',
      failure: undefined,
      ...(state === 'done' ? { metadata: '{"n":1}' } : {}),
    })),
  }),
  toClient('FeedStates of a job that waits', 99, '000001000009', {
    kind: 'feed_states',
    items: [
      { feed: 1, accepted: 0, taken: 0, window: 9, phase: 'waiting', isEnded: false, refusal: undefined },
    ],
  }),
  toClient(
    'StreamItems of refused readers and a response',
    88,
    '0100040001016104000201620300002d0202046c617465',
    {
      kind: 'stream_items',
      reader: 1,
      items: [
        { kind: 'refused', status: 'INVALID_ARGUMENT', problem: 'a' },
        { kind: 'refused', status: 'RESOURCE_EXHAUSTED', problem: 'b' },
        {
          kind: 'end',
          streaming: 'response',
          outcome: { job: 45, state: 'cancelled', result: undefined, reason: 'late', failure: undefined },
        },
      ],
    },
  ),
  workerHello(
    'WorkerHello with labels',
    '01020773747265616d730566656564730177026931010e6d61696c2f6d61696c2e73656e64010c6a6f622e61737369676e2e3e0404c0843d000d030b0203677075056c696e7578',
    {
      protocol: 1,
      features: ['streams', 'feeds'],
      worker: 'w',
      incarnation: 'i1',
      execs: ['mail/mail.send'],
      patterns: ['job.assign.>'],
      slots: 4,
      credit,
      heartbeatToken: '',
      labels: ['gpu', 'linux'],
      held: [],
    },
  ),
  worker(
    'Report with ends of every outcome',
    3,
    '04c0843d00000000000000000000000002022f0100054572726f72026e6f0302300100054572726f72026e6f05803101050303e0d40305803201120101020208077b226e223a317d0303e0d403',
    {
      kind: 'report',
      ends: [
        { outcome: 'final', job: 47, attempt: 1, failure },
        { outcome: 'timed-out', job: 48, attempt: 1, failure },
        { outcome: 'snoozed', job: 49, attempt: 1, delayMs: 60_000 },
        { outcome: 'snoozed', job: 50, attempt: 1, delayMs: 60_000, chunks: 2, metadata: '{"n":1}' },
      ],
      credit,
      cpu: 0,
      lagMs: 0,
      runMs: 0,
      overrun: 0,
    },
  ),
  worker(
    'Report of an attempt that waits for its runner',
    3,
    '04c0843d00000000000000000000000c020a012d0104036c6c6d0000',
    {
      kind: 'report',
      ends: [],
      credit,
      cpu: 0,
      lagMs: 0,
      runMs: 0,
      overrun: 0,
      progress: [
        {
          job: 45,
          attempt: 1,
          share: undefined,
          note: undefined,
          waitsForRunner: 'llm',
          lines: [],
          dropped: 0,
        },
      ],
    },
  ),
  toWorker('Abort of an attempt that is fenced', 75, '2b010100', {
    kind: 'abort',
    items: [{ job: 43, attempt: 1, reason: 'fenced', detail: '' }],
  }),
  toWorker(
    'Assign of a silent stream with a trace context',
    2,
    '8a2d01096d61696c2e73656e6403616e6ed00fb8173d013730302d30616637363531393136636434336464383434386562323131633830333139632d623761643662373136393230333333312d3031030288270131',
    {
      kind: 'assign',
      items: [
        {
          job: 45,
          attempt: 1,
          exec: 'mail.send',
          client: 'ann',
          runMs: 2_000,
          outputBytes: 3_000,
          payload: '1',
          streaming: true,
          durable: false,
          silenceMs: 5_000,
          trace: wide.trace,
        },
      ],
    },
  ),
  toWorker('FedItems with their end', 100, '012d0102010422746f2200', {
    kind: 'fed_items',
    items: [{ job: 45, attempt: 1, first: 2, items: ['"to"'], end: 'final' }],
  }),
];
