import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../../tools/drills/dist/main.js', import.meta.url));

/** The shortest; `npm run drill` lists all. */
const SHORT = ['redis-lost'];

/** @returns what it printed; in the case of a broken promise, too */
function drill(name: string): Promise<{ status: number; printed: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, name, '--short'], (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, printed: stderr + stdout }),
    );
  });
}

describe('drills', () => {
  it.each(SHORT)(
    '%s: its runbook works, and no promise is broken',
    async (name) => {
      const { status, printed } = await drill(name);
      expect({ status, printed }).toEqual({ status: 0, printed: expect.stringContaining('kept') });
    },
    180_000,
  );
});
