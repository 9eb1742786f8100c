import type { RegionFigures } from '@dormouse/management-contract';
import { Registry } from 'prom-client';
import { measureFleet } from './fleet-metrics.js';

const FIGURES: RegionFigures = {
  region: 'sg',
  workers: { living: 3, draining: 1 },
  shards: { total: 8, without_owner: 2 },
  sessions: { closed: 1, connecting: 0, qr: 0, open: 4, hibernating: 0, hibernated: 9, waking: 0 },
  sleeping: { count: 9, overdue: 5, most_overdue_s: 80 },
  wakes: { window_s: 900, count: 0 },
  commands: { waiting: 6, running: 2, oldest_age_s: 1.5 },
  events: { backlog: 11, webhooks_behind: 1, oldest_age_s: 12, dead_letters: 3 },
};

describe('measureFleet', () => {
  it('exports the figures of every region, and of one that does not answer only that it is down', async () => {
    let queries = 0;
    let nowMs = 0;
    let away = false;
    const registry = new Registry();
    const region = (name: string) => {
      queries += 1;
      if (name === 'eu' || away) return Promise.reject(new Error('away'));
      return Promise.resolve(FIGURES);
    };
    measureFleet(registry, { names: ['sg', 'eu'], region }, () => nowMs);
    const text = await registry.metrics();
    for (const line of [
      'dormouse_region_up{region="sg"} 1',
      'dormouse_region_up{region="eu"} 0',
      'dormouse_region_workers{region="sg",state="living"} 3',
      'dormouse_region_shards{region="sg",state="owned"} 6',
      'dormouse_region_shards{region="sg",state="without_owner"} 2',
      'dormouse_region_sessions{region="sg",state="hibernated"} 9',
      'dormouse_region_wakes_overdue{region="sg"} 5',
      'dormouse_region_commands{region="sg",state="waiting"} 6',
      'dormouse_region_command_age_seconds{region="sg"} 1.5',
      'dormouse_region_event_backlog{region="sg"} 11',
      'dormouse_region_dead_letters{region="sg"} 3',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(text).not.toContain('dormouse_region_workers{region="eu"');
    expect(queries).toBe(2);
    await registry.metrics();
    expect(queries).toBe(2); // cached
    nowMs = 6_000;
    away = true;
    const later = await registry.metrics();
    expect(later).toContain('dormouse_region_up{region="sg"} 0');
    expect(later).not.toContain('dormouse_region_workers{region="sg"');
  });
});
