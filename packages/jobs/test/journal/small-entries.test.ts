// timeout: 60s
import { defineJob, handle, JobFailedError, JobRefusedError } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { embedded } from '../checked-processes.js';
import { aNumber, aString } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const entries = suite('small entries');

const repeat = defineJob('text.repeat', { input: aNumber, output: aString, retry: { attempts: 1 } });
const length = defineJob('text.length', { input: aString, output: aNumber });
const HANDLERS = [handle(repeat, (n) => 'x'.repeat(n)), handle(length, (text) => text.length)];

entries(
  'a result or payload that no entry of the log takes is refused, and every other job is there after a restart',
  async () => {
    await using folder = await tempFolder();
    const wal = {
      segmentBytes: 262_144,
      firstSegmentBytes: 65_536,
      inlineBytesMax: 65_536,
      freeBytesSoft: 0,
    };
    const ids: string[] = [];
    {
      await using app = await embedded({ dir: folder.path, wal });
      app.worker({ slots: 64, handlers: HANDLERS });
      const client = app.client();
      assert.instance(await client.run(repeat, 100_000).catch((error: unknown) => error), JobFailedError);
      assert.instance(
        await client.submit(length, 'y'.repeat(100_000)).catch((error: unknown) => error),
        JobRefusedError,
      );
      // Together they are several entries.
      const jobs = await Promise.all(Array.from({ length: 40 }, (_, i) => client.submit(repeat, 20_000 + i)));
      ids.push(...jobs.map(({ id }) => id));
      await Promise.all(jobs.map((job) => job.result()));
    }
    await using app = await embedded({ dir: folder.path, wal });
    const client = app.client();
    const results = await Promise.all(ids.map((id) => client.open(repeat, id).result()));
    assert.equal(
      results.map((result) => result.length),
      Array.from({ length: 40 }, (_, i) => 20_000 + i),
    );
  },
);

entries.run();
