import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { snippetsIn } from '../check/snippets.mjs';

const snippets = suite('snippets');

snippets('a block that opens with "ts run" is a snippet, with the line it begins on', () => {
  const page =
    '# Title\n\n```ts run\nconst a = 1;\n```\n\n```ts\nnot run\n```\n\n```ts run\nconst b = 2;\nb;\n```\n';
  assert.equal(snippetsIn(page), [
    { line: 4, code: 'const a = 1;\n' },
    { line: 12, code: 'const b = 2;\nb;\n' },
  ]);
});

snippets('other fences are left alone', () => {
  assert.equal(
    snippetsIn('```sh\nnpm start\n```\n\n```tsx run\nx\n```\n\n    ```ts run\n    x\n    ```\n'),
    [],
  );
});

snippets.run();
