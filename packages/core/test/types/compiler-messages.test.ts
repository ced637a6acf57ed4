// The text of the compiler for common mistakes: it names the messages of the actor, not the types behind them.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const messages = suite('compiler messages');

const program = `import { createSystem, defineActor } from '@troupe/core';
const system = createSystem();
const Account = defineActor('account', {
  state: () => ({ cents: 0 }),
  handlers: {
    deposit: (ctx, cents: number) => void (ctx.state.cents += cents),
    balance: (ctx) => ctx.state.cents,
  },
});
const Door = defineActor('door', {
  handlers: { knock: () => 'who' },
  phases: { shut: { open: (ctx) => ctx.become('ajar') }, ajar: { shut: (ctx) => ctx.become('shut') } },
});
const account = system.spawn(Account);
const door = system.spawn(Door);
const pool = system.spawnPool(Account, { size: 2 });
account.tell.deposti(5);
account.ask.balanec();
door.tell.opne();
door.ask.knok();
pool.tell.deposti(5);
account.with({ withinMs: 5 }).ask.balanec();
`;

const tellOfAccount = '{ readonly balance: () => void; readonly deposit: (cents: number) => void; }';
const askOfAccount =
  '{ readonly balance: () => Promise<number>; readonly deposit: (cents: number) => Promise<undefined>; }';
const tellOfDoor = '{ readonly knock: () => void; readonly open: () => void; readonly shut: () => void; }';
const askOfDoor =
  '{ readonly knock: () => Promise<string>; readonly open: () => Promise<void>; readonly shut: () => Promise<void>; }';

const expected = [
  `Property 'deposti' does not exist on type '${tellOfAccount}'. Did you mean 'deposit'?`,
  `Property 'balanec' does not exist on type '${askOfAccount}'. Did you mean 'balance'?`,
  `Property 'opne' does not exist on type '${tellOfDoor}'.`,
  `Property 'knok' does not exist on type '${askOfDoor}'. Did you mean 'knock'?`,
  `Property 'deposti' does not exist on type '${tellOfAccount}'. Did you mean 'deposit'?`,
  `Property 'balanec' does not exist on type '${askOfAccount}'. Did you mean 'balance'?`,
];

async function errorsOf(text: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-types-'));
  try {
    const types = fileURLToPath(import.meta.resolve('@troupe/core')).replace(/\.js$/, '.d.ts');
    const options = { strict: true, noEmit: true, target: 'es2022', module: 'nodenext', skipLibCheck: true };
    const compilerOptions = {
      ...options,
      lib: ['es2023', 'esnext.disposable', 'dom'],
      types: [],
      paths: { '@troupe/core': [types] },
    };
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['program.ts'] }),
    );
    await writeFile(join(folder, 'program.ts'), text);
    const compiler = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin/tsc',
    );
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], (_error, stdout) =>
        resolve(stdout),
      );
    });
    return output.split('\n').filter((line) => line.includes('error TS'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

messages('a misspelt message is one error that lists the messages of the actor', async () => {
  const errors = await errorsOf(program);
  assert.equal(
    errors.map((line) => line.replace(/^.*error TS\d+: /, '')),
    expected,
  );
});

messages.run();
