// Peers in other languages are written from docs/wire-protocol.md: this checks its examples and numbers.

import { readFileSync } from 'node:fs';
import {
  FrameDecoder,
  type FrameHeader,
  FrameType,
  Secret,
  transportLimits,
  WIRE_ERRORS,
} from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeWireError } from '#src/connection/wire-error.js';
import { readHeader } from '#src/frame/header-reader.js';
import { decodeHello } from '#src/handshake/hello.js';
import { dialerProof, listenerProof } from '#src/handshake/hmac-proof.js';
import { decodeWelcome } from '#src/handshake/welcome.js';

const page = suite('wire protocol page');
const text = readFileSync(new URL('../../../../docs/wire-protocol.md', import.meta.url), 'utf8');

interface ExampleFrame {
  readonly from: '>' | '<';
  readonly type: number;
  readonly payload: Buffer;
}

function example(): ExampleFrame[] {
  const block = /```hex\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  const lines: ExampleFrame[] = [];
  let from: '>' | '<' = '>';
  const decoder = new FrameDecoder(
    {
      onFrame: (type, bytes, start, end) =>
        lines.push({ from, type, payload: Buffer.from(bytes.subarray(start, end)) }),
    },
    65_536,
  );
  for (const line of block.split('\n')) {
    if (line.startsWith('#') || line === '') continue;
    from = line[0] === '<' ? '<' : '>';
    assert.is(decoder.push(Buffer.from(line.slice(1).replaceAll(' ', ''), 'hex')), null);
  }
  assert.is(decoder.insideFrame, false);
  return lines;
}

function headerOf(line: ExampleFrame | undefined): FrameHeader {
  const payload = line?.payload ?? Buffer.alloc(2);
  return readHeader(payload, 2, 2 + payload.readUInt16LE(0)) as FrameHeader;
}

page('the worked example decodes as described', () => {
  const lines = example();
  assert.equal(
    lines.map(({ from, type }) => `${from}${type}`),
    ['>9', '<33', '>34', '<35', '>1', '<5', '>1', '>40', '>37', '>40', '<38', '<36'],
  );
  const [hello, challenge, auth, welcome, submit, result, streamed] = lines;
  assert.is(decodeHello(hello?.payload ?? Buffer.alloc(0))?.name, 'ann');
  assert.is(headerOf(submit).msgId, 'm1');
  assert.is(headerOf(result).corrId, 'm1');
  assert.is(headerOf(streamed).bodyLength, 5);
  const error = decodeWireError(lines.at(-1)?.payload ?? Buffer.alloc(0));
  assert.is(error?.code, WIRE_ERRORS.FORBIDDEN.code);
  assert.is(error?.corrId, 'm2');
  const key = new Secret('11'.repeat(32));
  const transcript = {
    helloType: 9,
    hello: hello?.payload ?? Buffer.alloc(0),
    challenge: challenge?.payload ?? Buffer.alloc(0),
    authWithoutProof: auth?.payload.subarray(0, -32) ?? Buffer.alloc(0),
    binding: new Uint8Array(0),
  };
  const proof = auth?.payload.subarray(-32) ?? Buffer.alloc(0);
  assert.ok(dialerProof(key, transcript).equals(proof));
  const read = decodeWelcome(welcome?.payload ?? Buffer.alloc(0));
  assert.is(read?.welcome.identityName, 'billing-api');
  assert.ok(read !== null && listenerProof(key, transcript, proof, read.signed).equals(read.proof));
});

page('every frame type is listed with its number', () => {
  for (const [name, number] of Object.entries(FrameType)) {
    if (name === 'FirstApplicationType') assert.match(text, `| ${number}–255 |`);
    else assert.match(text, `| ${number} | ${name} |`);
  }
});

page('every error is listed with its code and its effect on the connection', () => {
  for (const [name, { code, endsConnection }] of Object.entries(WIRE_ERRORS)) {
    const row = text
      .split('\n')
      .find((line) => new RegExp(`^\\| [\\d, ]*${code}\\b.*\\b${name}\\b`).test(line));
    assert.ok(row !== undefined, `${code} ${name}`);
    assert.is(/\| ends \|$/.test(row), endsConnection, `${code} ${name}`);
  }
});

page('the limits are those of the profiles', () => {
  const MIB = 1024 * 1024;
  const table: readonly (readonly [string, number, number])[] = [
    ['| streamed body | 8 MiB | 256 MiB |', transportLimits('public').bodyBytesMax / MIB, 8],
    ['| worker credit | 1,024 | 16,384 |', transportLimits('trusted').creditMax, 16_384],
    [
      '| requests in flight, count / bytes | 1,024 / 8 MiB | 16,384 / 256 MiB |',
      transportLimits('trusted').inFlightMax,
      16_384,
    ],
    [
      '| connections, total / per identity | 4,096 / 256 | 4,096 / 4,096 |',
      transportLimits('public').connectionsPerIdentityMax,
      256,
    ],
    [
      '| sockets before Welcome, total / per address (IPv6: per /64) | 256 / 16 | 1,024 / 1,024 |',
      transportLimits('public').unauthenticatedPerAddressMax,
      16,
    ],
    [
      '| chunk / window per body / bodies at once | 64 KiB / 1 MiB / 16 | 256 KiB / 4 MiB / 64 |',
      transportLimits('trusted').chunkBytesMax / 1024,
      256,
    ],
    [
      '| jobs submitted per identity, by single submits and batches | 10,000/s, burst 20,000 | – |',
      transportLimits('public').submitsBurst,
      20_000,
    ],
    [
      '| bodies put together in memory, per connection / per identity | 16 MiB / 64 MiB | 64 MiB / 256 MiB |',
      transportLimits('trusted').gatheredBytesPerIdentityMax / MIB,
      256,
    ],
    ['| handshake / TLS handshake | 2 s / 5 s | 2 s / 5 s |', transportLimits('public').handshakeMs, 2_000],
  ];
  for (const [row, actual, expected] of table) {
    assert.match(text, row);
    assert.is(actual, expected, row);
  }
});

page.run();
