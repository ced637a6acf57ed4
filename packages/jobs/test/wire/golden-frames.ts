import { encodeClientHello, readClientHello } from '#src/wire/client/client-codec.js';
import {
  encodeHeartbeatHello,
  encodeLoopBlocked,
  readHeartbeatHello,
  readLoopBlocked,
} from '#src/wire/worker/worker-codec.js';
import { GOLDEN_CALLS } from './golden-calls.js';
import { GOLDEN_FIELDS } from './golden-fields.js';
import { client, type GoldenFrame, toClient, toWorker, worker, workerHello } from './golden-frame.js';

const policy = {
  exec: 'mail.send',
  group: 'mail',
  retry: { attempts: 3, backoff: 'linear', baseMs: 10, capMs: 20, jitter: 0.5, crashes: 2 },
  leaseMs: 1_000,
  limits: { runMs: 2_000, outputBytes: 3_000 },
  keep: { doneMs: 4_000, deadMs: 5_000 },
} as const;
const failure = {
  name: 'Error',
  message: 'no',
  code: 'E1',
  stack: 'at x',
  cause: { name: 'TypeError', message: 'why' },
};
const credit = { jobs: 4, bytes: 1_000_000 };
const trace = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
};
const item = { seq: 8, ref: 1, payload: '{"to":"ann"}', key: 'k1', delayMs: 500, wantsOutcome: true };

const clientHello = { protocol: 1, features: ['one', 'two'], client: 'ann', token: 't1' };
const hello = {
  protocol: 1,
  features: ['one'],
  worker: 'w',
  incarnation: 'i1',
  execs: ['mail/mail.send'],
  patterns: ['job.assign.>'],
  slots: 4,
  credit,
  heartbeatToken: 'h1',
  held: [{ job: 7, attempt: 2 }],
};
const heartbeatHello = { worker: 'w', incarnation: 'i1', token: 'h1' };
const blocked = { blockedMs: 1_234 };

const use = {
  runner: 'llm',
  size: 2,
  granted: 7,
  loading: 1,
  idle: 0,
  held: 1,
  waiting: 3,
  loads: 4,
  loadFailures: 1,
  recycled: 2,
  runs: 300,
};
const runnersHello = { ...hello, runners: [{ ...use, execs: ['mail/mail.send'] }] };
const streamingHello = { ...hello, streams: [{ job: 7, attempt: 2, first: 300, next: 400 }] };

const MESSAGES: readonly GoldenFrame[] = [
  {
    name: 'ClientHello',
    type: 64,
    hex: '0102036f6e650374776f03616e6e02743100',
    message: clientHello,
    encode: (out, emit) => encodeClientHello(clientHello, out, emit),
    read: (_type, from) => readClientHello(from),
  },
  workerHello(
    'WorkerHello',
    '0101036f6e650177026931010e6d61696c2f6d61696c2e73656e64010c6a6f622e61737369676e2e3e0404c0843d026831000702',
    hello,
  ),
  workerHello(
    'WorkerHello with streams',
    '0101036f6e650177026931010e6d61696c2f6d61696c2e73656e64010c6a6f622e61737369676e2e3e0404c0843d026831090107000702ac0290030702',
    streamingHello,
  ),
  workerHello(
    'WorkerHello with warm runners',
    '0101036f6e650177026931010e6d61696c2f6d61696c2e73656e64010c6a6f622e61737369676e2e3e0404c0843d02683123022101036c6c6d0a020701000103040102ac02010e6d61696c2f6d61696c2e73656e640702',
    runnersHello,
  ),
  {
    name: 'HeartbeatHello',
    type: 79,
    hex: '0177026931026831',
    message: heartbeatHello,
    encode: (out, emit) => encodeHeartbeatHello(heartbeatHello, out, emit),
    read: (_type, from) => readHeartbeatHello(from),
  },
  {
    name: 'LoopBlocked',
    type: 80,
    hex: 'd209',
    message: blocked,
    encode: (out, emit) => encodeLoopBlocked(blocked, out, emit),
    read: (_type, from) => readLoopBlocked(from),
  },
  client(
    'Define',
    68,
    '01dc017b2265786563223a226d61696c2e73656e64222c2267726f7570223a226d61696c222c227265747279223a7b22617474656d707473223a332c226261636b6f6666223a226c696e656172222c22626173654d73223a31302c226361704d73223a32302c226a6974746572223a302e352c2263726173686573223a327d2c226c656173654d73223a313030302c226c696d697473223a7b2272756e4d73223a323030302c226f75747075744279746573223a333030307d2c226b656570223a7b22646f6e654d73223a343030302c22646561644d73223a353030307d7d',
    { kind: 'define', ref: 1, policy },
  ),
  client('Submit', 1, '07080107026b31f4030c7b22746f223a22616e6e227d0901010c7b22746f223a22616e6e227d', {
    kind: 'submit',
    low: 7,
    items: [item, { ...item, seq: 9, key: '', delayMs: 0 }],
  }),
  client(
    'Submit with a trace context',
    1,
    '07080187026b31f40343013730302d30616637363531393136636434336464383434386562323131633830333139632d623761643662373136393230333333312d3031020876656e646f723d310c7b22746f223a22616e6e227d',
    { kind: 'submit', low: 7, items: [{ ...item, trace }] },
  ),
  client('SubmitAll', 69, '07080107026b31f4030c7b22746f223a22616e6e227d', {
    kind: 'submit_all',
    low: 7,
    seq: 8,
    items: [item],
  }),
  client('Await', 70, '01c801', { kind: 'await', jobs: [1, 200] }),
  client(
    'Call',
    71,
    '03297b226b696e64223a2263616e63656c222c226a6f62223a392c22726561736f6e223a226c617465227d',
    { kind: 'call', call: 3, request: { kind: 'cancel', job: 9, reason: 'late' } },
  ),
  client(
    'Call for a principal',
    71,
    '033b7b226b696e64223a2263616e63656c222c226a6f62223a392c22726561736f6e223a226c617465222c227072696e636970616c223a22616e6e227d',
    { kind: 'call', call: 3, request: { kind: 'cancel', job: 9, reason: 'late', principal: 'ann' } },
  ),
  client('Close', 81, '', { kind: 'close' }),
  toClient('SessionWelcome of a client', 66, '0101036f6e65056162636465e80780804000', {
    kind: 'welcome',
    protocol: 1,
    features: ['one'],
    tag: 'abcde',
    outstandingMax: 1_000,
    payloadBytesMax: 1_048_576,
  }),
  toClient('SessionRefused', 67, '020976657273696f6e203200', {
    kind: 'refused',
    code: 'ERR_SESSION_VERSION',
    problem: 'version 2',
  }),
  toClient('Receipts', 73, '08018407012909028407000e4552525f51554555455f46554c4c0466756c6ce807', {
    kind: 'receipts',
    items: [
      { seq: 8, jobs: [41], lsn: 900, duplicate: true, refusal: undefined },
      {
        seq: 9,
        jobs: [],
        lsn: 900,
        duplicate: false,
        refusal: { code: 'ERR_QUEUE_FULL', problem: 'full', retryAfterMs: 1_000 },
      },
    ],
  }),
  toClient(
    'Outcomes',
    5,
    '290001062273656e74222a010608617474656d70747307054572726f72026e6f02453104617420780009547970654572726f7203776879',
    {
      kind: 'outcomes',
      items: [
        { job: 41, state: 'done', result: '"sent"', reason: '', failure: undefined },
        { job: 42, state: 'dead', result: undefined, reason: 'attempts', failure },
      ],
    },
  ),
  toClient(
    'Answer',
    72,
    '03287b226b696e64223a2263616e63656c6c6564222c227374617465223a2263616e63656c6c6564227d',
    { kind: 'answer', call: 3, answer: { kind: 'cancelled', state: 'cancelled' } },
  ),
  toClient('Heartbeat', 77, '', { kind: 'heartbeat' }),
  worker(
    'Report',
    3,
    '04c0843d000000000000d03f02dc0b010000012901062273656e742201022a0207054572726f72026e6f02453104617420780009547970654572726f720377687904002b01',
    {
      kind: 'report',
      credit,
      cpu: 0.25,
      lagMs: 2,
      runMs: 1.5,
      overrun: 1,
      ends: [
        { outcome: 'ok', job: 41, attempt: 1, result: '"sent"' },
        { outcome: 'failed', job: 42, attempt: 2, failure },
        { outcome: 'released', job: 43, attempt: 1 },
      ],
    },
  ),
  worker('Drain', 76, '', { kind: 'drain' }),
  toWorker('SessionWelcome of a worker', 66, '0100056162636465e80700', {
    kind: 'welcome',
    protocol: 1,
    features: [],
    tag: 'abcde',
    heartbeatMs: 1_000,
  }),
  toWorker(
    'Assign',
    2,
    '002901096d61696c2e73656e64096c6f63616c2f616e6ed00fb8170c7b22746f223a22616e6e227d012a010c7b22746f223a22616e6e227d',
    {
      kind: 'assign',
      items: [41, 42].map((job) => ({
        job,
        attempt: 1,
        exec: 'mail.send',
        client: 'local/ann',
        runMs: 2_000,
        outputBytes: 3_000,
        payload: '{"to":"ann"}',
        streaming: false,
      })),
    },
  ),
  toWorker('Assign of a stream', 2, '8e2d01096d61696c2e73656e64096c6f63616c2f616e6ed00fb81704030288270131', {
    kind: 'assign',
    items: [
      {
        job: 45,
        attempt: 1,
        exec: 'mail.send',
        client: 'local/ann',
        runMs: 2_000,
        outputBytes: 3_000,
        payload: '1',
        streaming: true,
        durable: true,
        silenceMs: 5_000,
      },
    ],
  }),
  toWorker(
    'Assign with a trace context',
    2,
    '802901096d61696c2e73656e64096c6f63616c2f616e6ed00fb81743013730302d30616637363531393136636434336464383434386562323131633830333139632d623761643662373136393230333333312d3031020876656e646f723d310c7b22746f223a22616e6e227d',
    {
      kind: 'assign',
      items: [
        {
          job: 41,
          attempt: 1,
          exec: 'mail.send',
          client: 'local/ann',
          runMs: 2_000,
          outputBytes: 3_000,
          payload: '{"to":"ann"}',
          streaming: false,
          trace,
        },
      ],
    },
  ),
  toWorker('Acknowledged', 74, '290102', {
    kind: 'acknowledged',
    items: [{ job: 41, attempt: 1, count: 2 }],
  }),
  toWorker('Abort', 75, '2b01000a6e6f74206e6565646564', {
    kind: 'abort',
    items: [{ job: 43, attempt: 1, reason: 'cancelled', detail: 'not needed' }],
  }),
  toWorker('Stale', 82, '2c02', { kind: 'stale', items: [{ job: 44, attempt: 2 }] }),
  worker(
    'Report of a stream',
    3,
    '04c0843d000000000000e03f0300000000812d010722746f20626522120102ac02020c0b7b22776f726473223a327d04802e0103010100',
    {
      kind: 'report',
      ends: [
        { outcome: 'ok', job: 45, attempt: 1, result: '"to be"', chunks: 300, metadata: '{"words":2}' },
        { outcome: 'released', job: 46, attempt: 1, chunks: 0 },
      ],
      credit,
      cpu: 0.5,
      lagMs: 3,
      runMs: 0,
      overrun: 0,
    },
  ),
  worker('Chunks', 83, '002d0102020422746f220422626522', {
    kind: 'chunks',
    items: [{ job: 45, attempt: 1, first: 2, chunks: ['"to"', '"be"'] }],
  }),
  toWorker('StreamWindows', 84, '002d0104808004', {
    kind: 'stream_windows',
    items: [{ job: 45, attempt: 1, taken: 4, bytes: 65_536 }],
  }),
  client('ReadStream', 85, '012d010280800400', {
    kind: 'read_stream',
    reader: 1,
    job: 45,
    attempt: 1,
    offset: 2,
    window: 65_536,
  }),
  client('StreamConsumed', 86, '00010103', {
    kind: 'stream_consumed',
    items: [{ reader: 1, attempt: 1, offset: 3 }],
  }),
  client('StopStream', 87, '0100', { kind: 'stop_stream', reader: 1 }),
  toClient(
    'StreamItems',
    88,
    '010000000102020422746f220422626522010002020002000402000203000400000d6e6f742073747265616d696e670300012d00810722746f206265220e010c0b7b22776f726473223a327d',
    {
      kind: 'stream_items',
      reader: 1,
      items: [
        { kind: 'data', attempt: 1, first: 2, chunks: ['"to"', '"be"'] },
        { kind: 'reset', attempt: 2 },
        { kind: 'gap', attempt: 2, from: 0, to: 3 },
        { kind: 'gap', attempt: 2, from: 3, to: undefined },
        { kind: 'refused', status: 'FAILED_PRECONDITION', problem: 'not streaming' },
        {
          kind: 'end',
          streaming: 'internal',
          outcome: {
            job: 45,
            state: 'done',
            result: '"to be"',
            reason: '',
            failure: undefined,
            metadata: '{"words":2}',
          },
        },
      ],
    },
  ),
  client('OpenFeed', 96, '00012d', { kind: 'open_feed', feed: 1, job: 45 }),
  client('Feed', 97, '01012d02020422746f220422626522', {
    kind: 'feed',
    feed: 1,
    job: 45,
    first: 2,
    items: ['"to"', '"be"'],
    final: true,
  }),
  client('CloseFeed', 98, '0001', { kind: 'close_feed', feed: 1 }),
  toClient('FeedStates', 99, '00010105038080040302020000000e4552525f464545445f454e444544046f76657200', {
    kind: 'feed_states',
    items: [
      {
        feed: 1,
        accepted: 5,
        taken: 3,
        window: 65_536,
        phase: 'running',
        isEnded: false,
        refusal: undefined,
      },
      {
        feed: 2,
        accepted: 0,
        taken: 0,
        window: 0,
        phase: 'ended',
        isEnded: true,
        refusal: { code: 'ERR_FEED_ENDED', problem: 'over', retryAfterMs: 0 },
      },
    ],
  }),
  toWorker('FedItems', 100, '002d0102020422746f220422626522012e02040001', {
    kind: 'fed_items',
    items: [
      { job: 45, attempt: 1, first: 2, items: ['"to"', '"be"'], end: undefined },
      { job: 46, attempt: 2, first: 4, items: [], end: 'abandoned' },
    ],
  }),
  worker('FeedRequests', 101, '002d010403', {
    kind: 'feed_requests',
    items: [{ job: 45, attempt: 1, received: 4, taken: 3 }],
  }),
  toWorker('Assign', 2, '122d01096d61696c2e73656e6403616e6ed00fb8170131', {
    kind: 'assign',
    items: [
      {
        job: 45,
        attempt: 1,
        exec: 'mail.send',
        payload: '1',
        client: 'ann',
        runMs: 2_000,
        outputBytes: 3_000,
        streaming: true,
        isFed: true,
      },
    ],
  }),
  worker(
    'Report with progress and warm runners',
    3,
    '04c0843d000000000000e03f03000034011101036c6c6d0a020701000103040102ac02021f012d0107000000000000e03f0770616765203132000302036f6e650374776f',
    {
      kind: 'report',
      ends: [],
      credit,
      cpu: 0.5,
      lagMs: 3,
      runMs: 0,
      overrun: 0,
      progress: [
        {
          job: 45,
          attempt: 1,
          share: 0.5,
          note: 'page 12',
          waitsForRunner: '',
          lines: ['one', 'two'],
          dropped: 3,
        },
      ],
      runners: [use],
    },
  ),
];

/** Frames are added here, never changed. */
export const GOLDEN_FRAMES: readonly GoldenFrame[] = [...MESSAGES, ...GOLDEN_FIELDS, ...GOLDEN_CALLS];
