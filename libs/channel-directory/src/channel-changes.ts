/**
 * Tells of every change of a channel as it commits, so that what is remembered of channels need not be asked for again
 * and again, and knows at any time until when it has told them all.
 *
 * The table's trigger notifies `channel_changed`; a connection beside the pool listens. Twice a second a notification is
 * sent to itself through the pool, that is: from where records are read and by the way changes go, from another session.
 * PostgreSQL delivers in the order of commits, so when it is heard, every change that committed before it was *sent* has
 * been told. As long as none is heard nothing is claimed, whatever the cause: a connection that is dead or silent, a
 * pooler in transaction mode (which delivers nothing to a client between its own queries), a trigger that is missing or
 * disabled, a pool that listens to another server than it reads from.
 *
 * Nothing here delays or fails anybody: connecting goes on in the background for ever, and keeps no process from ending.
 */
import { randomBytes } from 'node:crypto';
import { defineStatement, type Listener, type RegionalDatabase } from '@dormouse/database';

export interface ChannelChangesOptions {
  database: Pick<RegionalDatabase, 'pool' | 'listen'>;
  /** Where losing and finding the changes is told; a pino logger fits. */
  log?: ChannelChangesLog;
  /** Clock in epoch milliseconds: that of the directory which is told. */
  now?: () => number;
}

export interface ChannelChangesLog {
  info(message: string): void;
  warn(details: object, message: string): void;
}

/** Who remembers channels. */
export interface ChangesFollower {
  /** The channel was added, changed or deleted. */
  changed(channelId: string): void;
  /** Changes may have been missed until now. */
  missed(): void;
}

interface Ear {
  listener: Listener;
  /** Where it hears the proofs; each process has its own, so that nobody hears those of all. */
  readonly proofs: string;
  listening: boolean;
}

interface Proof {
  readonly sentAtMs: number;
  /** When the server had taken it: it should be heard soon. */
  takenAtMs?: number;
  readonly settle: (heard: boolean) => void;
}

/** Half of the second for which what is known is trusted. */
const PROVE_EVERY_MS = 500;
/** A connection that does not deliver in this time what the server has taken is given up. */
const SILENT_FOR_MS = 2_000;
const RETRY_AFTER_MS = 250;
const MAX_RETRY_AFTER_MS = 30_000;

const CHANGES = 'channel_changed';

const PROVE = defineStatement({
  name: 'prove-channel-changes',
  text: `
SELECT pg_notify($1, $2)::text AS sent FROM pg_trigger
WHERE tgrelid = 'channels'::regclass AND tgname = 'channels_changed' AND tgenabled IN ('O', 'A')`,
  parameters: ['text', 'text'],
  row: { sent: 'text' },
});

export class ChannelChanges {
  readonly #options: ChannelChangesOptions;
  readonly #now: () => number;
  readonly #followers: ChangesFollower[] = [];
  readonly #proofs = new Map<number, Proof>();
  #ear: Ear | undefined;
  #toldUntilMs: number | undefined;
  #proofsSent = 0;
  #newestHeard = 0;
  #failures = 0;
  #loggedAsHeard: boolean | undefined;
  #proving: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: ChannelChangesOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Every change that committed before this moment has been told; undefined: none is claimed to have been. */
  get toldUntilMs(): number | undefined {
    return this.#toldUntilMs;
  }

  follow(follower: ChangesFollower): void {
    this.#followers.push(follower);
  }

  /** Begins to listen, in the background. */
  start(): void {
    if (this.#proving) return;
    this.#proving = setInterval(() => {
      this.#giveUpSilence();
      void this.prove();
    }, PROVE_EVERY_MS);
    this.#proving.unref();
    this.#listen();
  }

  async close(): Promise<void> {
    clearInterval(this.#proving);
    clearTimeout(this.#retry);
    this.#proving = undefined;
    const ear = this.#ear;
    this.#forgetEar();
    await ear?.listener.close();
  }

  /**
   * Finds out whether changes are heard now; done twice a second by itself.
   * @returns true once every change that had committed before the call has been told; false when that stays unknown
   */
  prove(): Promise<boolean> {
    const ear = this.#ear;
    if (!ear?.listening) return Promise.resolve(false);
    const number = ++this.#proofsSent;
    return new Promise((settle) => {
      const proof: Proof = { sentAtMs: this.#now(), settle };
      this.#proofs.set(number, proof);
      this.#send(ear.proofs, number).then(
        (taken) => {
          if (taken) proof.takenAtMs = this.#now();
          else this.#notProven(number, new Error('the trigger channels_changed is missing or disabled'));
        },
        (error: unknown) => this.#notProven(number, error),
      );
    });
  }

  async #send(proofs: string, number: number): Promise<boolean> {
    return (await PROVE.count(this.#options.database.pool, proofs, String(number))) === 1;
  }

  #listen(): void {
    const ear: Omit<Ear, 'listener'> = {
      proofs: `channel_changes_proven_${randomBytes(8).toString('hex')}`,
      listening: false,
    };
    const listener = this.#options.database.listen({
      channels: [CHANGES, ear.proofs],
      purpose: 'channel changes',
      onListening: () => {
        ear.listening = true;
        for (const follower of this.#followers) follower.missed();
        void this.prove();
      },
      onNotification: (channel, payload) => {
        if (channel === ear.proofs) this.#heard(Number(payload));
        else for (const follower of this.#followers) follower.changed(payload);
      },
      onEnd: (error) => this.#lost(error),
    });
    this.#ear = Object.assign(ear, { listener });
  }

  #heard(number: number): void {
    const proof = this.#proofs.get(number);
    this.#proofs.delete(number);
    if (!proof) return;
    if (number > this.#newestHeard) {
      this.#newestHeard = number;
      this.#toldUntilMs = proof.sentAtMs;
    }
    this.#failures = 0;
    if (this.#loggedAsHeard !== true) this.#options.log?.info('changes of channels are heard');
    this.#loggedAsHeard = true;
    proof.settle(true);
  }

  #notProven(number: number, error: unknown): void {
    const proof = this.#proofs.get(number);
    if (!proof) return;
    this.#proofs.delete(number);
    this.#logLoss(error);
    proof.settle(false);
  }

  #giveUpSilence(): void {
    const nowMs = this.#now();
    const silent = [...this.#proofs.values()].some(
      ({ takenAtMs = nowMs }) => Math.abs(nowMs - takenAtMs) > SILENT_FOR_MS,
    );
    if (!silent) return;
    void this.#ear?.listener.close();
    this.#lost(new Error('the listening connection is silent'));
  }

  #lost(error: Error): void {
    this.#forgetEar();
    this.#logLoss(error);
    const pauseMs = Math.min(RETRY_AFTER_MS * 2 ** this.#failures, MAX_RETRY_AFTER_MS);
    this.#failures += 1;
    this.#retry = setTimeout(() => this.#listen(), pauseMs * (0.5 + Math.random() / 2));
    this.#retry.unref();
  }

  #forgetEar(): void {
    this.#ear = undefined;
    this.#toldUntilMs = undefined;
    for (const { settle } of this.#proofs.values()) settle(false);
    this.#proofs.clear();
  }

  #logLoss(error: unknown): void {
    if (this.#loggedAsHeard !== false) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log?.warn({ reason }, 'changes of channels are not heard; each is asked for every second');
    }
    this.#loggedAsHeard = false;
  }
}
