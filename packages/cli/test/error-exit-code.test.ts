import { OptionError } from '@troupe/core';
import {
  FeedRefusedError,
  JobRefusedError,
  type RefusalCode,
  type SessionRefusalCode,
  SessionRefusedError,
  StreamRefusedError,
} from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exitFailureOf } from '#src/error-exit-code.js';

const failures = suite('failures');

/** Every reason there is; the compiler says when one is missing. */
const REFUSALS: Readonly<Record<RefusalCode, number>> = {
  ERR_QUEUE_FULL: 75,
  ERR_SUBMIT_WINDOW_FULL: 75,
  ERR_SUBMIT_RATE: 75,
  ERR_PAYLOAD_TOO_LARGE: 65,
  ERR_PAYLOAD_LOST: 66,
  ERR_KEY_CONFLICT: 65,
  ERR_KEY_WINDOW_FULL: 75,
  ERR_DEAD_LETTERS_FULL: 75,
  ERR_DISK_LOW: 75,
  ERR_DISK_SLOW: 75,
  ERR_LEADER_DRAINING: 75,
  ERR_QUEUE_DRAINING: 75,
  ERR_EXEC_UNKNOWN: 65,
  ERR_EXEC_UNSUPPORTED: 65,
  ERR_FORBIDDEN: 77,
  ERR_PRODUCERS_FULL: 75,
  ERR_POLICIES_FULL: 75,
  ERR_MESSAGE_MALFORMED: 65,
};
const SESSIONS: Readonly<Record<SessionRefusalCode, number>> = {
  ERR_SESSION_MALFORMED: 64,
  ERR_SESSION_REPLACED: 75,
  ERR_SESSION_VERSION: 69,
  ERR_SESSION_REFUSED: 69,
  ERR_SESSION_STOPPED: 75,
};

failures('every refusal code of a leader has an exit code', () => {
  for (const [code, exitCode] of Object.entries(REFUSALS))
    assert.is(exitFailureOf(new JobRefusedError(code as RefusalCode, 'x', 0)).exitCode, exitCode, code);
  for (const [code, exitCode] of Object.entries(SESSIONS))
    assert.is(
      exitFailureOf(new SessionRefusedError(code as SessionRefusalCode, 'x')).exitCode,
      exitCode,
      code,
    );
});

/** Every reason there is; the compiler says when one is missing. */
const FEEDS: Readonly<Record<FeedRefusedError['code'], number>> = {
  ERR_FEED_EMPTY: 65,
  ERR_JOB_UNKNOWN: 66,
  ERR_FORBIDDEN: 77,
  ERR_FEED_UNSUPPORTED: 64,
  ERR_FEED_ENDED: 66,
  ERR_PAYLOAD_TOO_LARGE: 65,
  ERR_MESSAGE_MALFORMED: 65,
  ERR_QUEUE_FULL: 75,
  ERR_DISK_LOW: 75,
  ERR_DISK_SLOW: 75,
};
const STREAMS: Readonly<Record<StreamRefusedError['status'], number>> = {
  FAILED_PRECONDITION: 64,
  INVALID_ARGUMENT: 64,
  RESOURCE_EXHAUSTED: 75,
};

failures('every refusal of a feed or of a stream, and a wrong option, has an exit code', () => {
  for (const [code, exitCode] of Object.entries(FEEDS)) {
    const error = new FeedRefusedError('a-1', code as FeedRefusedError['code'], 'x', 0);
    assert.is(exitFailureOf(error).exitCode, exitCode, code);
  }
  for (const [status, exitCode] of Object.entries(STREAMS)) {
    const error = new StreamRefusedError('a-1', status as StreamRefusedError['status'], 'x');
    assert.is(exitFailureOf(error).exitCode, exitCode, status);
  }
  assert.is(exitFailureOf(new OptionError('a.b', 1, 'needed a text')).exitCode, 64);
});

failures('an error of the operating system has its exit code and advice', () => {
  const table: readonly (readonly [code: string, exitCode: number, advice: RegExp])[] = [
    ['ENOSPC', 74, /free space/],
    ['EDQUOT', 74, /free space/],
    ['EIO', 74, /disk fails/],
    ['EROFS', 77, /another folder/],
    ['EACCES', 77, /permissions/],
    ['EPERM', 77, /permissions/],
    ['EMFILE', 75, /ulimit/],
    ['ENOENT', 66, /path/],
  ];
  for (const [code, exitCode, advice] of table) {
    const failure = exitFailureOf(Object.assign(new Error(`${code}: no`), { code }));
    assert.is(failure.exitCode, exitCode, code);
    assert.match(failure.message, advice);
  }
});

failures('an error message with line breaks is printed as one line', () => {
  const { message } = exitFailureOf(new Error('one\n  two \u001b[31mred\u0007\u202e'));
  assert.is(message, 'one two \\u001b[31mred\\u0007\\u202e');
});

failures('characters without a shape and marks of direction in a message are escaped', () => {
  for (const code of ['200b', '200f', '061c', '2060', 'feff', '00ad', '180e', '3164'])
    assert.is(
      exitFailureOf(new Error(`a${String.fromCodePoint(Number.parseInt(code, 16))}b`)).message,
      `a\\u${code}b`,
    );
  assert.is(exitFailureOf(new Error('a\u{e0041}b')).message, 'a\\u{e0041}b');
  assert.is(exitFailureOf(new Error('naïve — Ωmega 日本 ✓')).message, 'naïve — Ωmega 日本 ✓');
});

failures.run();
