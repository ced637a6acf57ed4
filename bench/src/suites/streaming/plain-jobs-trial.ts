import type { Trial } from '../../runner/suite.js';
import { openSystem } from '../jobs/job-system.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { runLoad } from '../jobs/run-load.js';
import { CHUNK_BYTES } from './chunk-trial.js';

/** Plain jobs as in `jobs`, in the same run as streams. */
export async function plainJobsTrial(jobs: number, outstanding: number): Promise<Trial> {
  const load = { jobs, outstanding, bytes: CHUNK_BYTES };
  const opened = await openSystem('troupe', load);
  const payloads = new PayloadSource(load.bytes);
  return {
    run: () =>
      runLoad(
        (payload, caller) => opened.run(payload, caller),
        () => payloads.next(),
        load,
      ),
    close: () => opened.close(),
  };
}
