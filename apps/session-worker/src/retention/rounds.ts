/**
 * Who goes round the channels of the region: one worker at a time, which holds the row of its kind of round until a time that it
 * moves on as it works. The row has the last channel that is done, so that the next holder goes on there.
 *
 * A worker that dies or stalls is followed by another when its time is over. The one that stalled may still be at work then: what a
 * round does may be done twice, and at the same time.
 */
import { defineStatement, type RegionalDatabase } from '@dormouse/database';

/** Kinds of rounds. */
export type RoundName = 'messages' | 'deleted-channels';

/** A round that this worker goes. */
export interface Round {
  /** The last channel that is done; '' at its begin. */
  afterChannel: string;
  /** How many were over before it. */
  number: number;
}

const BEGIN = defineStatement({
  name: 'begin-round',
  text: `INSERT INTO retention_rounds (name) VALUES ($1) ON CONFLICT (name) DO NOTHING`,
  parameters: ['text'],
});

const CLAIM = defineStatement({
  name: 'claim-round',
  text: `UPDATE retention_rounds SET held_by = $2, held_until = now() + $3::float8 * interval '1 ms'
         WHERE name = $1 AND (held_until IS NULL OR held_until < now() OR held_by = $2)
           AND (after_channel <> '' OR ended_at IS NULL OR ended_at <= now() - $4::float8 * interval '1 ms')
         RETURNING after_channel, rounds`,
  parameters: ['text', 'text', 'float8', 'float8'],
  row: { after_channel: 'text', rounds: 'int4' },
});

const ADVANCE = defineStatement({
  name: 'advance-round',
  text: `UPDATE retention_rounds SET after_channel = $3, held_until = now() + $4::float8 * interval '1 ms'
         WHERE name = $1 AND held_by = $2`,
  parameters: ['text', 'text', 'text', 'float8'],
});

const HOLD = defineStatement({
  name: 'hold-round',
  text: `UPDATE retention_rounds SET held_until = now() + $3::float8 * interval '1 ms' WHERE name = $1 AND held_by = $2`,
  parameters: ['text', 'text', 'float8'],
});

const END = defineStatement({
  name: 'end-round',
  text: `UPDATE retention_rounds SET after_channel = '', rounds = rounds + 1, ended_at = now(), held_by = NULL, held_until = NULL,
           overdue_s = $3
         WHERE name = $1 AND held_by = $2`,
  parameters: ['text', 'text', 'int4'],
});

const OVERDUE = defineStatement({
  name: 'overdue-of-round',
  text: 'SELECT overdue_s FROM retention_rounds WHERE name = $1',
  parameters: ['text'],
  row: { overdue_s: 'int4' },
});

const GIVE_BACK = defineStatement({
  name: 'give-back-round',
  text: 'UPDATE retention_rounds SET held_by = NULL, held_until = NULL WHERE name = $1 AND held_by = $2',
  parameters: ['text', 'text'],
});

export interface RoundsOptions {
  readonly database: Pick<RegionalDatabase, 'pool'>;
  readonly name: RoundName;
  readonly workerId: string;
  /** From the end of one round to the begin of the next. */
  readonly everyMs: number;
  /** How long another worker waits for this one. */
  readonly holdMs: number;
}

export class Rounds {
  constructor(private readonly options: RoundsOptions) {}

  /** Begins a round that is due, or goes on with one; undefined: none is due, or another worker is at it. */
  async claim(): Promise<Round | undefined> {
    const { database, name, workerId, holdMs, everyMs } = this.options;
    await BEGIN.count(database.pool, name);
    const row = await CLAIM.first(database.pool, name, workerId, holdMs, everyMs);
    return row && { afterChannel: row.after_channel, number: row.rounds };
  }

  /** Stores how far it is. @returns false when another worker has taken over */
  async advance(afterChannel: string): Promise<boolean> {
    const { database, name, workerId, holdMs } = this.options;
    return (await ADVANCE.count(database.pool, name, workerId, afterChannel, holdMs)) === 1;
  }

  /** Moves the time on until which it is this worker's. */
  async hold(): Promise<void> {
    const { database, name, workerId, holdMs } = this.options;
    await HOLD.count(database.pool, name, workerId, holdMs);
  }

  /** The round is over. @param overdueS by how many seconds the oldest row that it left is too old */
  async end(overdueS = 0): Promise<void> {
    const { database, name, workerId } = this.options;
    await END.count(database.pool, name, workerId, overdueS);
  }

  /** By how many seconds the oldest row was too old that the last round left, whichever worker it was. */
  async overdueS(): Promise<number> {
    return (await OVERDUE.first(this.options.database.pool, this.options.name))?.overdue_s ?? 0;
  }

  /** Lets another worker go on at once. */
  async giveBack(): Promise<void> {
    await GIVE_BACK.count(this.options.database.pool, this.options.name, this.options.workerId);
  }
}
