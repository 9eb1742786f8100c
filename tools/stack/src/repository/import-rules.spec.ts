import { join } from 'node:path';
import { ESLint } from 'eslint';
import { ROOT_FOLDER } from '../app-names.js';

const RULE = 'imports/allowed';

const eslint = new ESLint({
  cwd: ROOT_FOLDER,
  ruleFilter: ({ ruleId }) => ruleId === RULE,
  // The rule uses no types: the projects need not be loaded.
  overrideConfig: { languageOptions: { parserOptions: { projectService: false } } },
});

/** What the linter reports for a file of the tree if it held this code. */
async function faults(file: string, code: string): Promise<(string | null)[]> {
  const [result] = await eslint.lintText(code, { filePath: join(ROOT_FOLDER, file) });
  return result?.messages.map((message) => (message.fatal ? message.message : message.ruleId)) ?? [];
}

const STACK = 'tools/stack/src/index.ts';
const CONTRACT = 'libs/gateway-contract/src/index.ts';

describe('the import rules', () => {
  it('refuse a forbidden import, in every form', async () => {
    const code = `
      import { Queue } from 'bullmq';
      import type { Redis } from 'ioredis';
      export { Worker } from 'bullmq';
      export * from '@dormouse/message-store';
      export const lazily = () => import('@nestjs/common');
      export type Sock = import('@whiskeysockets/baileys').WASocket;
      export const both: [typeof Queue, Redis?] = [Queue];`;
    expect(await faults(STACK, code)).toEqual(Array.from({ length: 6 }, () => RULE));
  }, 60_000);

  it('let an allowed one pass', async () => {
    const code = `
      import { readFile } from 'node:fs/promises';
      import { migrate } from '@dormouse/database';
      import pg from 'pg';
      export const all = [readFile, migrate, pg];`;
    expect(await faults(STACK, code)).toEqual([]);
  }, 60_000);

  it('keep Nest out of the contracts and undeclared packages out of everything', async () => {
    expect(await faults(CONTRACT, "export * from '@nestjs/common';")).toEqual([RULE]);
    expect(await faults(CONTRACT, "export * from 'zod';")).toEqual([]);
    expect(await faults(CONTRACT, "export * from 'undici';")).toEqual([RULE]);
  }, 60_000);

  it('do not let a relative path leave its project', async () => {
    expect(await faults(CONTRACT, "export * from '../../../database/src/index.js';")).toEqual([RULE]);
  }, 60_000);

  it('keep the network library in its room: its protobufs and types in the conversion and in tests, nothing elsewhere', async () => {
    const worker = (file: string) => `apps/session-worker/src/${file}`;
    const value = "import { makeWASocket } from '@whiskeysockets/baileys';\nexport const all = makeWASocket;";
    const protobufs =
      "import { proto, type WAMessage } from '@whiskeysockets/baileys';\nexport const all: [typeof proto, WAMessage?] = [proto];";
    const type = "export type { WAMessage } from '@whiskeysockets/baileys';";
    const everything = "export * from 'libsignal';";
    const codes = [value, everything, protobufs, type];
    const faultsIn = async (file: string) =>
      (await Promise.all(codes.map((code) => faults(worker(file), code)))).flat();
    expect(await faultsIn('socket/open-socket.ts')).toEqual([]);
    expect(await faultsIn('convert/jid.ts')).toEqual([RULE, RULE]);
    expect(await faultsIn('inbound/inbound.int.spec.ts')).toEqual([RULE, RULE]);
    for (const file of ['inbound/inbound.ts', 'config.ts'])
      expect(await faultsIn(file)).toEqual([RULE, RULE, RULE, RULE]);
  }, 60_000);
});
