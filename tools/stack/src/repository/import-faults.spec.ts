import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_FOLDER } from '../app-names.js';

interface ImportRules {
  PROJECTS: Record<string, unknown>;
  importFault(root: string, file: string, source: string): string | undefined;
}

const rules = (await import(join(ROOT_FOLDER, 'import-rules.mjs'))) as ImportRules;
const fault = (file: string, source: string): string | undefined =>
  rules.importFault(ROOT_FOLDER, join(ROOT_FOLDER, file), source);

describe('the table of import rules', () => {
  it('has a row for every project, and no other', () => {
    const projects = ['apps', 'libs', 'tools'].flatMap((kind) =>
      readdirSync(join(ROOT_FOLDER, kind))
        .filter((name) => existsSync(join(ROOT_FOLDER, kind, name, 'package.json')))
        .map((name) => `${kind}/${name}`),
    );
    expect(Object.keys(rules.PROJECTS).sort()).toEqual(projects.sort());
  });

  it.each([
    ['apps/edge-api/src/x.ts', '@dormouse/message-store/write'],
    ['apps/edge-api/src/x.ts', '@whiskeysockets/baileys'],
    ['apps/edge-api/src/x.ts', 'ioredis'],
    ['apps/network-simulator/src/x.ts', '@dormouse/gateway-contract'],
    ['apps/session-worker/src/x.ts', '@dormouse/network-simulator'],
    ['apps/control-plane/src/x.ts', '@prisma/client'],
    ['apps/control-plane/src/x.ts', '@dormouse/stack/test-stores'],
    ['libs/channel-directory/src/x.ts', 'pg'],
    ['libs/unlisted/src/x.ts', 'node:fs'],
    ['apps/session-worker/src/commands/x.ts', '../inbound/inbound.js'],
    ['apps/session-worker/src/convert/deep/x.ts', '../../sessions/sessions.js'],
    ['apps/session-worker/src/sessions/x.ts', '../commands/handlers.js'],
    ['apps/network-simulator/src/network/x.ts', '../phones/phone.js'],
    ['apps/network-simulator/src/wire/x.ts', '../network/network.js'],
    ['apps/network-simulator/src/control/x.ts', '../scenarios/client.js'],
    ['apps/session-worker/src/inbound/x.ts', '@whiskeysockets/baileys'],
    ['apps/session-worker/src/x.ts', 'libsignal'],
    ['apps/session-worker/src/convert/x.ts', '@whiskeysockets/baileys'],
    ['apps/session-worker/src/unheard-of/x.ts', '../sessions/sessions.js'],
  ])('refuses %s the import of %s', (file, source) => {
    expect(fault(file, source)).toEqual(expect.any(String));
  });

  it.each([
    ['apps/edge-api/src/x.ts', '@dormouse/message-store/read'],
    ['apps/edge-api/src/x.int.spec.ts', '@dormouse/stack/test-stores'],
    ['libs/queues/src/x.ts', 'bullmq'],
    ['apps/session-worker/src/commands/x.ts', '../convert/jid.js'],
    ['apps/session-worker/src/commands/x.ts', './handlers.js'],
    ['apps/session-worker/src/worker.module.ts', './inbound/inbound.js'],
    ['apps/session-worker/src/x.ts', 'node:fs'],
    ['apps/session-worker/src/socket/patches/x.ts', '@whiskeysockets/baileys'],
    ['apps/network-simulator/src/control/x.int.spec.ts', '../scenarios/client.js'],
  ])('lets %s import %s', (file, source) => {
    expect(fault(file, source)).toBeUndefined();
  });
});
