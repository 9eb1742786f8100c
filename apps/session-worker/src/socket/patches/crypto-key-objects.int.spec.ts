import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { KEY_OBJECTS_ARE_FASTER } from './crypto-key-objects.js';

describe('passKeysAsObjects', () => {
  (KEY_OBJECTS_ARE_FASTER ? it : it.skip)('reaches those who imported a function by its name', async () => {
    const program = `
      import { createDecipheriv } from 'node:crypto';
      import { passKeysAsObjects } from ${JSON.stringify(new URL('crypto-key-objects.js', import.meta.url))};
      const before = createDecipheriv;
      passKeysAsObjects();
      console.log(before === createDecipheriv ? 'not reached' : 'reached');`;
    const run = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    expect(run.stdout.trim()).toBe('reached');
  });
});
