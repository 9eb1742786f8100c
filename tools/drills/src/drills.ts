/** The drills by name. A new one is a line here; the runbook that it follows names it. */
import type { Drill } from './drill.js';
import { workerLost } from './worker-lost.js';

export const DRILLS: Readonly<Record<string, Drill>> = {
  'worker-lost': workerLost,
};
