import type { Middleware } from '@troupe/core';
import { defineJob } from '@troupe/jobs';
import { connectClient } from '@troupe/jobs/client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startLeader } from '../checked-processes.js';
import { anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const connect = suite('connectClient');
const Mail = defineJob('mail.send', { input: anything, output: anything });

function fail(error: Error): never {
  throw error;
}

/** Lets the client take its first welcome 50 ms late. */
function lateWelcome(): Middleware {
  let isHeld = false;
  return {
    name: 'late-welcome',
    beforeMessage({ message }) {
      if (message !== 'welcome' || isHeld) return undefined;
      isHeld = true;
      return { verdict: 'hold', reason: { user: 'late' }, resumeOn: { on: 'after', ms: 50 } };
    },
  };
}

connect('a client that is connected understands ids, however late its actor takes the welcome', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, onFatal: fail });
  const { address } = leader;
  await using first = await connectClient({ address, name: 'first' });
  const { id } = await first.submit(Mail, 1);
  await using late = await connectClient({ address, name: 'late', middleware: [lateWelcome()] });
  assert.is((await late.open(Mail, id).inspect()).state, 'queued');
});

connect.run();
