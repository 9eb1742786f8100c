/**
 * Notifies caches of every change of a channel when it commits, so that they need not query again, and knows at any time
 * until when its notifications are complete. Parts of a process that act on changed settings are notified in the same way.
 *
 * Triggers of the table notify `channel_changed` and `channel_settings_changed`; a connection beside the pool listens. Twice a second a probe
 * notification is sent through the pool, from another session and to the server that records are read from. PostgreSQL
 * delivers in the order of commits, so once a probe is received, every change that committed before it was *sent* has been
 * delivered. While no probe is received, nothing counts as complete, whatever the cause: a connection that is dead or
 * silent, a pooler in transaction mode (which delivers nothing to a client between its own queries), a trigger that is
 * missing or disabled, a pool that listens to another server than it reads from.
 *
 * Failures never reach callers: reconnecting goes on in the background for ever, and does not keep the process alive.
 */
import { randomBytes } from 'node:crypto';
import { defineStatement, type Listener, type RegionalDatabase } from '@dormouse/database';

export interface ChannelChangesOptions {
  database: Pick<RegionalDatabase, 'pool' | 'listen'>;
  /** Logger of losing and regaining the notifications; a pino logger fits. */
  log?: ChannelChangesLog;
  /** Clock in epoch milliseconds; the same as of the directory that is notified. */
  now?: () => number;
}

export interface ChannelChangesLog {
  info(message: string): void;
  warn(details: object, message: string): void;
}

/** Follows changes of channels: a cache of them, or a part that acts on changed settings. */
export interface ChangesFollower {
  /** The channel was added, changed or deleted. */
  changed?(channelId: string): void;
  /** The settings of the channel were changed. All followers' `changed` were called before. */
  settingsChanged?(channelId: string): void;
  /** Changes may have been missed until now. */
  missed?(): void;
}

interface Listening {
  listener: Listener;
  /** PostgreSQL's channel for the probes of this process; each has its own, so that no process receives those of others. */
  readonly proofs: string;
  /** Set once PostgreSQL has confirmed the subscription. */
  confirmed: boolean;
}

interface Proof {
  readonly sentAtMs: number;
  /** When the server accepted the probe: it should be received soon after. */
  acceptedAtMs?: number;
  readonly settle: (received: boolean) => void;
}

/** Interval between two probes: half of the second for which cached records are used. */
const PROVE_EVERY_MS = 500;
/** Timeout of the delivery of a probe; the listening connection is then replaced. */
const SILENT_FOR_MS = 2_000;
const RETRY_AFTER_MS = 250;
const MAX_RETRY_AFTER_MS = 30_000;

const CHANGES = 'channel_changed';
const SETTINGS_CHANGES = 'channel_settings_changed';

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
  #listening: Listening | undefined;
  #notifiedUntilMs: number | undefined;
  #proofsSent = 0;
  #newestReceived = 0;
  #failures = 0;
  #loggedAsReceived: boolean | undefined;
  #proving: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: ChannelChangesOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Every change that committed before this moment was notified, in epoch milliseconds; undefined: not known. */
  get notifiedUntilMs(): number | undefined {
    return this.#notifiedUntilMs;
  }

  follow(follower: ChangesFollower): void {
    this.#followers.push(follower);
  }

  /** Starts to listen, in the background. */
  start(): void {
    if (this.#proving) return;
    this.#proving = setInterval(() => {
      this.#replaceSilent();
      void this.prove();
    }, PROVE_EVERY_MS);
    this.#proving.unref();
    this.#listen();
  }

  async close(): Promise<void> {
    clearInterval(this.#proving);
    clearTimeout(this.#retry);
    this.#proving = undefined;
    const listening = this.#listening;
    this.#endListening();
    await listening?.listener.close();
  }

  /**
   * Sends a probe; runs twice a second once started.
   * @returns true once every change that had committed before the call was notified; false when that stays unknown
   */
  prove(): Promise<boolean> {
    const listening = this.#listening;
    if (!listening?.confirmed) return Promise.resolve(false);
    const number = ++this.#proofsSent;
    return new Promise((settle) => {
      const proof: Proof = { sentAtMs: this.#now(), settle };
      this.#proofs.set(number, proof);
      this.#send(listening.proofs, number).then(
        (accepted) => {
          if (accepted) proof.acceptedAtMs = this.#now();
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
    const listening: Omit<Listening, 'listener'> = {
      proofs: `channel_changes_proven_${randomBytes(8).toString('hex')}`,
      confirmed: false,
    };
    const listener = this.#options.database.listen({
      channels: [CHANGES, SETTINGS_CHANGES, listening.proofs],
      purpose: 'channel changes',
      onListening: () => {
        listening.confirmed = true;
        for (const follower of this.#followers) follower.missed?.();
        void this.prove();
      },
      onNotification: (channel, payload) => {
        if (channel === listening.proofs) this.#received(Number(payload));
        else this.#changed(payload, { settings: channel === SETTINGS_CHANGES });
      },
      onEnd: (error) => this.#lost(error),
    });
    this.#listening = Object.assign(listening, { listener });
  }

  #changed(channelId: string, { settings }: { settings: boolean }): void {
    for (const follower of this.#followers) follower.changed?.(channelId);
    if (settings) for (const follower of this.#followers) follower.settingsChanged?.(channelId);
  }

  #received(number: number): void {
    const proof = this.#proofs.get(number);
    this.#proofs.delete(number);
    if (!proof) return;
    if (number > this.#newestReceived) {
      this.#newestReceived = number;
      this.#notifiedUntilMs = proof.sentAtMs;
    }
    this.#failures = 0;
    if (this.#loggedAsReceived !== true) this.#options.log?.info('changes of channels are received');
    this.#loggedAsReceived = true;
    proof.settle(true);
  }

  #notProven(number: number, error: unknown): void {
    const proof = this.#proofs.get(number);
    if (!proof) return;
    this.#proofs.delete(number);
    this.#logLoss(error);
    proof.settle(false);
  }

  #replaceSilent(): void {
    const nowMs = this.#now();
    const silent = [...this.#proofs.values()].some(
      ({ acceptedAtMs = nowMs }) => Math.abs(nowMs - acceptedAtMs) > SILENT_FOR_MS,
    );
    if (!silent) return;
    void this.#listening?.listener.close();
    this.#lost(new Error('the listening connection is silent'));
  }

  #lost(error: Error): void {
    this.#endListening();
    this.#logLoss(error);
    const pauseMs = Math.min(RETRY_AFTER_MS * 2 ** this.#failures, MAX_RETRY_AFTER_MS);
    this.#failures += 1;
    this.#retry = setTimeout(() => this.#listen(), pauseMs * (0.5 + Math.random() / 2));
    this.#retry.unref();
  }

  #endListening(): void {
    this.#listening = undefined;
    this.#notifiedUntilMs = undefined;
    for (const { settle } of this.#proofs.values()) settle(false);
    this.#proofs.clear();
  }

  #logLoss(error: unknown): void {
    if (this.#loggedAsReceived !== false) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log?.warn({ reason }, 'changes of channels are not received; records are queried every second');
    }
    this.#loggedAsReceived = false;
  }
}
