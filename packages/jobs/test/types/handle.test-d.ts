import { type AttemptContext, defineJob, handle } from '@troupe/jobs';
import { aNumber, aString } from '../plain-schema.js';

const words = defineJob('text.words', { input: aString, output: aString, chunk: aString });
const length = defineJob('text.length', { input: aString, output: aNumber });

class Model {
  async *generate(prompt: string): AsyncGenerator<string, void, void> {
    yield prompt;
  }
  count(text: string): number {
    return text.length;
  }
}
const loadModel = async (): Promise<Model> => new Model();

export const handlers = [
  // The value of `load` is known in `run`, wherever it stands.
  handle(words, {
    load: () => loadModel(),
    async *run(prompt, { loaded, signal, trailer }) {
      for await (const word of loaded.generate(prompt)) if (!signal.aborted) yield word;
      trailer({ words: 1 });
    },
  }),
  handle(words, {
    async *run(prompt, { loaded }) {
      yield* loaded.generate(prompt);
    },
    load: () => loadModel(),
  }),
  handle(length, { run: (text, { loaded }) => loaded.count(text), load: () => new Model() }),
  handle(length, {
    load: loadModel,
    unload: (model) => void model.count('end'),
    run: async (text, { loaded }) => loaded.count(text),
  }),
  // Absent: there is no value.
  handle(length, {
    run: (text, { loaded }) => {
      const none: undefined = loaded;
      return none ?? text.length;
    },
  }),
  handle(length, (text, { loaded }) => {
    const none: undefined = loaded;
    return none ?? text.length;
  }),
  handle(length, {
    // @ts-expect-error without `load` there is no model
    run: (text, { loaded }) => loaded.count(text),
  }),
  // A plain `run`, and a generator for readers.
  handle(words, {
    run: (prompt) => prompt,
    async *runStream(prompt, { attempt }) {
      yield `${prompt} ${attempt}`;
    },
  }),
  // A handler that names its context.
  handle(length, (text, { jobId }: AttemptContext) => text.length + jobId.length),
  handle(length, {
    load: loadModel,
    run: (text, { loaded }: AttemptContext<Model>) => loaded.count(text),
  }),

  handle(words, {
    // @ts-expect-error a chunk of this job is a text
    async *run() {
      yield 1;
    },
  }),
  handle(words, {
    load: loadModel,
    // @ts-expect-error a chunk of this job is a text, also beside `load`
    async *run(_, { loaded }) {
      yield loaded;
    },
  }),
  handle(words, {
    run: (prompt) => prompt,
    // @ts-expect-error a chunk of this job is a text
    async *runStream() {
      yield 1;
    },
  }),
  // @ts-expect-error the output of this job is a number
  handle(length, (text) => text),
  handle(length, {
    // @ts-expect-error the output of this job is a number
    run: (text) => text,
  }),
  handle(length, {
    run: (text) => text.length,
    // @ts-expect-error a job without chunks has no generator
    async *runStream() {
      yield 'a';
    },
  }),
  // @ts-expect-error a handler is a function or has `run`
  handle(length, { load: loadModel }),
  // @ts-expect-error unknown option
  handle(length, { run: (text) => text.length, loads: loadModel }),
  handle(words, {
    async *run(prompt, { trailer }) {
      // @ts-expect-error metadata is flat
      trailer({ nested: { a: 1 } });
      yield prompt;
    },
  }),
];
