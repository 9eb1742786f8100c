import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';

describe('a unit spec', () => {
  it.each<[string, () => unknown]>([
    ['listens', () => createServer().listen(0)],
    ['connects', () => connect(1, '127.0.0.1')],
    ['starts a process', () => spawn('true')],
    ['waits for a process', () => spawnSync('true')],
    ['makes a temporary folder', () => mkdtempSync('/tmp/unit-')],
    ['makes a temporary folder later', () => mkdtemp('/tmp/unit-')],
  ])('that %s fails with a sentence that names the tier for it', (_, act) => {
    expect(act).toThrow(/does no I\/O; name the file x\.int\.spec\.ts/);
  });

  it('that looks up an address fails', async () => {
    await expect(fetch('http://127.0.0.1:65000/')).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/no I\/O/) },
    });
  });
});
