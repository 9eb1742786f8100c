/**
 * Checks that a process and its regional database belong together. The first worker that starts on a region's database
 * stores the region's name there, and every process stores a fingerprint of its master keys. From then on a process of
 * another region, or with another key under the same id, does not start: it would serve channels that are not its own, or
 * encrypt values that the others cannot decrypt.
 *
 * While the database is away the check goes on in the background, as servers start without it. It also goes on until a
 * worker has stored the region.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { defineStatement, type RegionalDatabase } from '@dormouse/database';
import pTimeout from 'p-timeout';

const RECORD_REGION = defineStatement({
  name: 'record-region',
  text: 'INSERT INTO region (name) VALUES ($1) ON CONFLICT DO NOTHING',
  parameters: ['text'],
});

const REGION = defineStatement({
  name: 'region',
  text: 'SELECT name FROM region',
  parameters: [],
  row: { name: 'text' },
});

const RECORD_PRINT = defineStatement({
  name: 'record-master-key-print',
  text: `WITH added AS (
           INSERT INTO master_key_prints (purpose, key_id, print) VALUES ($1, $2, $3)
           ON CONFLICT DO NOTHING RETURNING print)
         SELECT print FROM added UNION ALL SELECT print FROM master_key_prints WHERE purpose = $1 AND key_id = $2`,
  parameters: ['text', 'text', 'bytea'],
  row: { print: 'bytea' },
});

export interface RegionFacts {
  /** The region this process is configured for. */
  region: string;
  /** The master keys it holds, by purpose. */
  masterKeys: Readonly<Partial<Record<'sessions' | 'settings', ReadonlyMap<string, Buffer>>>>;
}

/** The process and the database do not belong together; the text names what to change. */
export class RegionMismatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RegionMismatchError';
  }
}

/** Stores the region of the database, unless it is stored already. Only workers call it: each belongs to one region. */
export async function recordRegion(database: Pick<RegionalDatabase, 'pool'>, region: string): Promise<void> {
  await RECORD_REGION.count(database.pool, region);
}

/**
 * @returns false while no worker has stored the region yet
 * @throws {RegionMismatchError} one sentence; any other error means that the database did not answer
 */
export async function checkRegion(database: Pick<RegionalDatabase, 'pool'>, facts: RegionFacts): Promise<boolean> {
  const recorded = (await REGION.first(database.pool))?.name;
  if (recorded !== undefined && recorded !== facts.region) {
    throw new RegionMismatchError(
      `the regional database is that of region ${recorded}, and this process is configured for ${facts.region}: ` +
        'correct the region or the address of the database',
    );
  }
  for (const [purpose, keys] of Object.entries(facts.masterKeys)) {
    for (const [id, key] of keys) await checkKey(database, purpose, id, key);
  }
  return recorded !== undefined;
}

async function checkKey(
  database: Pick<RegionalDatabase, 'pool'>,
  purpose: string,
  id: string,
  key: Buffer,
): Promise<void> {
  // The fingerprint reveals nothing of a random key of 256 bits.
  const print = createHmac('sha256', key).update(`dormouse master key ${purpose}`).digest();
  const known = await RECORD_PRINT.first(database.pool, purpose, id, print);
  if (!known || timingSafeEqual(known.print, print)) return;
  throw new RegionMismatchError(
    `the master key of ${purpose} that goes by the id "${id}" is not the one that this region's database has known by ` +
      'that id: correct the key, or give a new key a new id',
  );
}

const FIRST_ANSWER_WITHIN_MS = 3_000;
const RETRY_MS = 5_000;

export interface RegionCheckOptions extends RegionFacts {
  database: Pick<RegionalDatabase, 'pool'>;
  /** Called when a database that was away at the start turns out to be that of another region. Default: ends the process. */
  onMismatch?: (error: RegionMismatchError) => void;
  /** Interval between two checks while the database does not answer or has no region stored. */
  retryMs?: number;
}

/** Checks at the start, and goes on in the background while there is no result. */
export class RegionCheck {
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly options: RegionCheckOptions) {}

  /**
   * Resolves after the first result, or after `withinMs` without one.
   * @throws {RegionMismatchError}
   */
  async start(withinMs = FIRST_ANSWER_WITHIN_MS): Promise<void> {
    const check = checkRegion(this.options.database, this.options);
    try {
      if (!(await pTimeout(check, { milliseconds: withinMs, fallback: () => false }))) this.#checkLater();
    } catch (error) {
      if (error instanceof RegionMismatchError) throw error;
      this.#checkLater();
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #checkLater(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#checkAgain(), this.options.retryMs ?? RETRY_MS);
    this.#timer.unref();
  }

  async #checkAgain(): Promise<void> {
    try {
      if (await checkRegion(this.options.database, this.options)) return;
    } catch (error) {
      if (error instanceof RegionMismatchError) {
        const { onMismatch = endProcess } = this.options;
        onMismatch(error);
        return;
      }
    }
    this.#checkLater();
  }
}

/** Ends the process as a failed start does: servers drain and exit with 1 on an uncaught error. */
function endProcess(error: RegionMismatchError): void {
  process.nextTick(() => {
    throw error;
  });
}
