import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { DRILLS } from './drills.js';

const RUNBOOKS = new URL('../../../infra/runbooks/', import.meta.url);

/** Pages that name no drill, and the test that holds what they promise. */
const HELD_ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'apps/control-plane/src/fleet/runbooks.spec.ts',
  'add-shards.md': 'apps/session-worker/src/shards/shard-owner.int.spec.ts',
  'billing-drift.md': 'apps/billing/src/sweep/sweep.int.spec.ts',
  'damaged-snapshot.md': 'apps/session-worker/src/sessions/sleep.int.spec.ts',
  'data-stays.md': 'apps/session-worker/src/retention/message-retention.int.spec.ts',
  'mail-away.md': 'libs/mail-outbox/src/mail-outbox.int.spec.ts',
  'rotate-webhook-secret.md': 'apps/billing/src/webhook/webhook.int.spec.ts',
  'stripe-away.md': 'apps/e2e/src/money-away.e2e.spec.ts',
  'stuck-shard.md': 'apps/e2e/src/operators.e2e.spec.ts',
};

const pages = readdirSync(RUNBOOKS).map((file) => {
  const text = readFileSync(new URL(file, RUNBOOKS), 'utf8');
  const drills = [...text.matchAll(/npm run drill -- ([\w-]+)/g)].map(([, name = '']) => name);
  return { file, drills };
});

describe('runbooks and drills', () => {
  it('a drill that a runbook names exists', () => {
    const unknown = pages.flatMap(({ file, drills }) =>
      drills.filter((name) => !(name in DRILLS)).map((name) => `${file}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it.each(pages)('$file names its drill, or a test holds what it says', ({ file, drills }) => {
    const test = HELD_ELSEWHERE[file];
    if (drills.length > 0) return;
    expect(test).toBeDefined();
    expect(existsSync(new URL(`../../../${test}`, import.meta.url))).toBe(true);
  });

  it.each(Object.entries(DRILLS))('%s is named by the runbook that it follows, and by the README', (name, drill) => {
    expect(pages.find(({ file }) => file === drill.runbook)?.drills).toContain(name);
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(`\`${name}\``);
  });
});
