import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { backgroundCommand } from './background-command.js';

/** The number of SCHED_IDLE in sched(7), and the field of /proc/self/stat that has the policy, counted from 0. */
const SCHED_IDLE = '5';
const POLICY_FIELD = 40;

const run = async (...command: Parameters<typeof backgroundCommand>): Promise<string> =>
  (await promisify(execFile)(...backgroundCommand(...command))).stdout;

const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('A process that opens files', () => {
  it('runs only while no other process is ready', async () => {
    const stat = await run('data', 100, ['cat', '/proc/self/stat']);
    expect(stat.split(' ')[POLICY_FIELD]).toBe(SCHED_IDLE);
  });

  it.each([
    ['data', /^Max data size\s+104857600 /m],
    ['addressSpace', /^Max address space\s+104857600 /m],
  ] as const)('has its limit on memory (%s)', async (limited, expected) => {
    expect(await run(limited, 100, ['cat', '/proc/self/limits'])).toMatch(expected);
  });

  it('gets its arguments as they are', async () => {
    expect(await run('data', 100, ['printf', '%s|', 'a b', '', '$HOME', '*'])).toBe('a b||$HOME|*|');
  });
});
