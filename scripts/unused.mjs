// npm run unused: exports, files and dependencies without a user.
import { checkUnused, unusedSkipReason } from './check/unused.mjs';

const reason = unusedSkipReason();
if (reason === undefined) {
  const { code, output } = await checkUnused();
  console.log(output.trim() === '' ? 'unused: nothing found' : output.trimEnd());
  process.exitCode = code;
} else {
  console.log(`unused: skipped: ${reason}`);
}
