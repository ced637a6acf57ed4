// A model writes token by token: a Markov chain of word pairs, trained on a text of this repository, stands for a
// language model. It is loaded once per instance (a warm runner); its caller prints each token as it comes.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { defineJob, embedded, handle } from '@troupe/jobs';

/** Which words follow a pair of words in the text it was trained on. */
class MarkovModel {
  private readonly next = new Map<string, string[]>();

  static async load(path: URL): Promise<MarkovModel> {
    const model = new MarkovModel();
    const words = (await readFile(path, 'utf8')).split(/\s+/);
    for (let i = 0; i + 2 < words.length; i += 1) {
      const pair = `${words[i]} ${words[i + 1]}`;
      model.next.set(pair, [...(model.next.get(pair) ?? []), words[i + 2] ?? '']);
    }
    return model;
  }

  /** The same seed writes the same text. */
  *generate(prompt: string, tokensMax: number, seed: number): Generator<string, void, void> {
    let [first = '', second = ''] = prompt.split(' ');
    let random = seed;
    yield prompt;
    for (let i = 0; i < tokensMax; i += 1) {
      const choices = this.next.get(`${first} ${second}`) ?? [];
      if (choices.length === 0) return;
      random = (random * 48_271) % 2_147_483_647;
      const token = choices[random % choices.length] ?? '';
      yield ` ${token}`;
      [first, second] = [second, token];
    }
  }
}

interface Prompt {
  readonly prompt: string;
  readonly seed: number;
}
function schema<T>(): StandardSchemaV1<T, T> {
  return { '~standard': { version: 1, vendor: 'example', validate: (value) => ({ value: value as T }) } };
}
const complete = defineJob('llm.complete', {
  input: schema<Prompt>(),
  output: schema<string>(),
  chunk: schema<string>(),
  useStatic: true,
});

// From docs/examples/.test up to the root.
const corpus = new URL('../../../docs/style.md', import.meta.url);
const dir = await mkdtemp(join(tmpdir(), 'troupe-markov-'));
const app = await embedded({ dir });
app.worker({
  handlers: [
    handle(complete, {
      pool: { size: 1, warm: true },
      load: () => MarkovModel.load(corpus),
      async *run({ prompt, seed }, { loaded, signal, trailer, progress }) {
        let tokens = 0;
        for (const token of loaded.generate(prompt, 40, seed)) {
          // A language model takes its time for each token.
          await new Promise((resolve) => setTimeout(resolve, 5));
          signal.throwIfAborted();
          tokens += 1;
          progress(tokens / 41, `${tokens} tokens`);
          yield token;
        }
        trailer({ tokens });
      },
    }),
  ],
});

const job = await app.client().stream(complete, { prompt: 'A comment', seed: 7 });
let written = '';
for await (const token of job) {
  process.stdout.write(token);
  written += token;
}
process.stdout.write('\n');
// The result is the collected text, durable at the leader.
assert.equal(await job.result(), written);
assert.ok(written.split(' ').length > 5, 'the model wrote almost nothing');

await app.close();
await rm(dir, { recursive: true });
