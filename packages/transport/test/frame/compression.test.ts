import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { compressBody, decompressBody } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const compression = suite('compression');
const MIB = 1024 * 1024;

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
}

compression('a body is smaller when compressed and unchanged when decompressed', () => {
  const body = Buffer.from('the same words again and again. '.repeat(100));
  for (const method of ['gzip', 'brotli'] as const) {
    const encoded = compressBody(body, method);
    assert.is(encoded.compression, method);
    assert.ok(encoded.body.length < body.length);
    assert.equal(Buffer.from(decompressBody(encoded, MIB)), body);
  }
});

compression('a body that would not get smaller is left as it is', () => {
  let seed = 1;
  const noise = Buffer.alloc(4096);
  for (let i = 0; i < noise.length; i += 1) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    noise[i] = seed >>> 16;
  }
  for (const method of ['gzip', 'brotli'] as const) {
    assert.is(compressBody(noise, method).body, noise);
    assert.equal(compressBody(Buffer.from('tiny'), method), { body: Buffer.from('tiny') });
  }
});

compression('no compressed body is above the ratio that a receiver refuses', () => {
  const zeros = Buffer.alloc(MIB);
  for (const method of ['gzip', 'brotli'] as const) {
    const encoded = compressBody(zeros, method);
    assert.is(decompressBody(encoded, MIB).length, MIB);
  }
});

compression('a bomb is refused by its declared length, by its ratio and by its expansion', () => {
  const zeros = Buffer.alloc(64 * MIB);
  for (const [method, bomb] of [
    ['gzip', gzipSync(zeros)],
    ['brotli', brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ] as const) {
    const before = process.memoryUsage().arrayBuffers;
    assert.is(
      codeOf(() => decompressBody({ compression: method, rawLen: zeros.length, body: bomb }, 8 * MIB)),
      'ERR_PAYLOAD_BOMB',
    );
    assert.is(
      codeOf(() => decompressBody({ compression: method, rawLen: zeros.length, body: bomb }, 256 * MIB)),
      'ERR_PAYLOAD_BOMB',
    );
    assert.is(
      codeOf(() => decompressBody({ compression: method, rawLen: 1000, body: bomb }, 8 * MIB)),
      'ERR_PAYLOAD_BOMB',
    );
    assert.ok(process.memoryUsage().arrayBuffers - before < 4 * MIB);
  }
});

compression('invalid data and wrong lengths are corrupt', () => {
  const body = gzipSync(Buffer.from('abc'.repeat(100)));
  assert.is(
    codeOf(() => decompressBody({ compression: 'gzip', rawLen: 301, body }, MIB)),
    'ERR_BODY_CORRUPT',
  );
  assert.is(
    codeOf(() => decompressBody({ compression: 'brotli', rawLen: 300, body }, MIB)),
    'ERR_BODY_CORRUPT',
  );
  assert.is(
    codeOf(() => decompressBody({ compression: 'gzip', rawLen: 300, body: body.subarray(0, 10) }, MIB)),
    'ERR_BODY_CORRUPT',
  );
});

compression.run();
