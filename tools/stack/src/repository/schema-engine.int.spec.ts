import { readFileSync } from 'node:fs';
import { pendingMigration } from '@dormouse/database/schema-engine';
import { ROOT_FOLDER } from '../app-names.js';
import { sharedTestDatabaseUrl } from '../testing/test-stores.js';

describe('the schema engine', () => {
  it.each(['global', 'regional'] as const)(
    'finds the %s migrations in step with schema.prisma',
    async (scope) => {
      expect(await pendingMigration(sharedTestDatabaseUrl(scope), scope)).toBeUndefined();
    },
    30_000,
  );

  it('finds what a changed schema lacks', async () => {
    const schema = readFileSync(`${ROOT_FOLDER}prisma/global/schema.prisma`, 'utf8');
    const changed = schema.replace('model Account {', 'model Account {\n  nickname String?');
    const sql = await pendingMigration(sharedTestDatabaseUrl('global'), 'global', changed);
    expect(sql).toContain('ALTER TABLE "accounts" ADD COLUMN     "nickname" TEXT');
  }, 30_000);
});
