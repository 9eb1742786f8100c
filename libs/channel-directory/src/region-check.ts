/**
 * Does this process belong to the database it was given? The first worker that starts on a region's database writes down
 * whose it is, and every process leaves a print of its master keys there. From then on a process of another region, or one
 * whose key differs from the one that goes by the same id, does not start: it would answer for channels that are not its
 * own, or seal what the others cannot open.
 *
 * A database that is away is waited for, in the background if it takes long, as servers start without it. One that
 * nobody has written down yet is looked at again until somebody has.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { defineStatement, type RegionalDatabase } from '@dormouse/database';

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
  /** The master keys it holds, by what they are for. */
  masterKeys: Readonly<Partial<Record<'sessions' | 'settings', ReadonlyMap<string, Buffer>>>>;
}

/** The process and the database do not belong together; the text says what to change. */
export class RegionMismatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RegionMismatchError';
  }
}

/** Writes down whose database it is, unless it is written down already. For workers, which are a region's own. */
export async function recordRegion(database: Pick<RegionalDatabase, 'pool'>, region: string): Promise<void> {
  await RECORD_REGION.count(database.pool, region);
}

/**
 * @returns false while nobody has written down whose database it is
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
  // Of a random key of 256 bits its print tells nothing.
  const print = createHmac('sha256', key).update(`dormouse master key ${purpose}`).digest();
  const known = await RECORD_PRINT.first(database.pool, purpose, id, print);
  if (!known || timingSafeEqual(known.print, print)) return;
  throw new RegionMismatchError(
    `the master key of ${purpose} that goes by the id "${id}" is not the one that this region's database has known by ` +
      'that id: correct the key, or give a new key a new id',
  );
}

const FIRST_ANSWER_WITHIN_MS = 3_000;
const ASK_AGAIN_MS = 5_000;

export interface RegionCheckOptions extends RegionFacts {
  database: Pick<RegionalDatabase, 'pool'>;
  /** Called when a database that was away at the start turns out to be another's. Default: ends the process. */
  onMismatch?: (error: RegionMismatchError) => void;
  /** Pause between two looks at a database that has not answered or is nobody's yet. */
  askAgainMs?: number;
}

/** Checks at the start, and goes on in the background while there is no answer. */
export class RegionCheck {
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly options: RegionCheckOptions) {}

  /**
   * Resolves with the first answer, or after a few seconds without one.
   * @throws {RegionMismatchError}
   */
  async start(withinMs = FIRST_ANSWER_WITHIN_MS): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), withinMs)));
    const asked = checkRegion(this.options.database, this.options);
    try {
      if ((await Promise.race([asked, late])) !== true) this.#askLater();
    } catch (error) {
      if (error instanceof RegionMismatchError) throw error;
      this.#askLater();
    } finally {
      clearTimeout(timer);
      asked.catch(() => undefined); // it may fail later than it is waited for
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #askLater(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#ask(), this.options.askAgainMs ?? ASK_AGAIN_MS);
    this.#timer.unref();
  }

  async #ask(): Promise<void> {
    try {
      if (await checkRegion(this.options.database, this.options)) return;
    } catch (error) {
      if (error instanceof RegionMismatchError) {
        const { onMismatch = endProcess } = this.options;
        onMismatch(error);
        return;
      }
    }
    this.#askLater();
  }
}

/** As a start that fails: servers drain and exit with 1 on what nobody catches. */
function endProcess(error: RegionMismatchError): void {
  process.nextTick(() => {
    throw error;
  });
}
