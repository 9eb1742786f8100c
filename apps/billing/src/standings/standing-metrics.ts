import type { GlobalDatabase } from '@dormouse/database';
import { Gauge, type Registry } from 'prom-client';
import type { Regions } from '../regions/regions.js';
import { COUNT_DIRTY, OUTBOX_FIGURES } from './standing-rows.js';

/** Measures what waits on its way to the regions. While the database is away there are no samples. */
export function measureStandings(
  registry: Registry,
  { database, regions }: { database: Pick<GlobalDatabase, 'pool'>; regions: Pick<Regions, 'names'> },
): void {
  const registers = [registry];
  const oldest = new Gauge({
    name: 'dormouse_standings_oldest_seconds',
    help: 'Age of the oldest standing that its region has not got yet',
    labelNames: ['region'],
    registers,
  });
  new Gauge({
    name: 'dormouse_standings_waiting',
    help: 'Standings that their region has not got yet',
    labelNames: ['region'],
    registers,
    async collect() {
      this.reset();
      oldest.reset();
      const rows = await OUTBOX_FIGURES.all(database.pool).catch(() => undefined);
      if (!rows) return;
      for (const name of regions.names) {
        const row = rows.find(({ region }) => region === name);
        this.set({ region: name }, row?.waiting ?? 0);
        oldest.set({ region: name }, row?.oldest_s ?? 0);
      }
    },
  });
  new Gauge({
    name: 'dormouse_billing_accounts_dirty',
    help: 'Accounts whose standings are to be computed anew',
    registers,
    async collect() {
      this.reset();
      const row = await COUNT_DIRTY.first(database.pool).catch(() => undefined);
      if (row) this.set(row.dirty);
    },
  });
}
