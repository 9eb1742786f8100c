/** The drills by name. A new one is a line here; the runbook that it follows names it. */
import type { Drill } from './drill.js';
import { certificates } from './certificates.js';
import { diskFull } from './disk-full.js';
import { masterKey } from './master-key.js';
import { poisonedEvent } from './poisoned-event.js';
import { redisLost } from './redis-lost.js';
import { restore } from './restore.js';
import { upgrade } from './upgrade.js';
import { workerLost } from './worker-lost.js';

export const DRILLS: Readonly<Record<string, Drill>> = {
  restore,
  'worker-lost': workerLost,
  'redis-lost': redisLost,
  'master-key': masterKey,
  'poisoned-event': poisonedEvent,
  certificates,
  'disk-full': diskFull,
  upgrade,
};
